// SPDX-License-Identifier: Apache-2.0
// The tables of op_spec.h, expanded from ops.inc.
#include "reference/contract/op_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "reference/contract/op_entries.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

constexpr std::uint32_t kHalf = BACKGAUGE_BIT(BACKGAUGE_HALF);
constexpr std::uint32_t kFloat32 = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
constexpr std::uint32_t kFloat64 = BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
constexpr std::uint32_t kBfloat16 = BACKGAUGE_BIT(BACKGAUGE_BFLOAT16);

// "I + H, 4 * H" as "I + H" and "4 * H".
std::vector<std::string_view> split_dimensions(std::string_view shape_text) {
  std::vector<std::string_view> dimensions;
  while (!shape_text.empty()) {
    const std::size_t comma = shape_text.find(", ");
    dimensions.push_back(shape_text.substr(0, comma));
    shape_text.remove_prefix(comma == std::string_view::npos ? shape_text.size() : comma + 2);
  }
  return dimensions;
}

// Columns of ops.inc as functions of the extents, which they refer to by name.
#define BACKGAUGE_EXTENTS                                                                                          \
  [[maybe_unused]] const auto& [T, B, I, H, L, D, S, params_length, reserve_length, peephole, lstm, skips_input] = \
      extents;
#define BACKGAUGE_COLUMN(Result, ...) [](const Extents& extents) -> Result { BACKGAUGE_EXTENTS return __VA_ARGS__; }
#define BACKGAUGE_SHAPE(...)                                                                                  \
  BACKGAUGE_COLUMN(Shape, Shape{__VA_ARGS__}),                                                                \
      [](const Extents& extents, std::span<const std::int64_t> given) -> bool {                               \
        BACKGAUGE_EXTENTS return std::ranges::equal(std::initializer_list<std::int64_t>{__VA_ARGS__}, given); \
      }

#define BACKGAUGE_IN_SPEC(name, role, present, read, ...)                                    \
  spec.inputs.push_back({#name, role, #__VA_ARGS__, "", false, BACKGAUGE_SHAPE(__VA_ARGS__), \
                         BACKGAUGE_COLUMN(bool, present), BACKGAUGE_COLUMN(std::int64_t, read)});
#define BACKGAUGE_INT64_SPEC(name)                                                                            \
  spec.inputs.push_back({#name, Role::kLength, "", "", true, BACKGAUGE_SHAPE(), BACKGAUGE_COLUMN(bool, true), \
                         BACKGAUGE_COLUMN(std::int64_t, kAll)});
#define BACKGAUGE_OUT_SPEC(name, role, present, live, alias, ...)                                \
  spec.outputs.push_back({#name, role, #__VA_ARGS__, alias, false, BACKGAUGE_SHAPE(__VA_ARGS__), \
                          BACKGAUGE_COLUMN(bool, present), BACKGAUGE_COLUMN(std::int64_t, live)});
#define BACKGAUGE_OP_SPEC(Name, TENSORS, enumerator, word, tensorflow, dtypes, ...)   \
  {                                                                                   \
    OpSpec spec{enumerator, word, tensorflow, dtypes, {__VA_ARGS__}, {}, {}, {}, {}}; \
    TENSORS(BACKGAUGE_IN_SPEC, BACKGAUGE_INT64_SPEC, BACKGAUGE_OUT_SPEC)              \
    specs.push_back(std::move(spec));                                                 \
  }

std::vector<OpSpec> make_op_specs() {
  using enum Role;
  std::vector<OpSpec> specs;
  BACKGAUGE_OPS(BACKGAUGE_OP_SPEC)
  for (OpSpec& spec : specs) {
    for (auto* tensors : {&spec.inputs, &spec.outputs}) {
      for (TensorSpec& tensor : *tensors) tensor.dimensions = split_dimensions(tensor.shape_text);
    }
    for (const AttributeSpec& attribute : attribute_specs()) {
      if (spec.traits.*attribute.fact) spec.attributes_.emplace_back(attribute);
    }
    for (const SizeSpec& size : size_specs()) {
      if (size.fact == nullptr || spec.traits.*size.fact) spec.sizes_.emplace_back(size);
    }
  }
  return specs;
}

#define BACKGAUGE_FLAG_SPEC(fact_, field, key_, set_) \
  {.name = #field,                                    \
   .key = key_,                                       \
   .fact = &OpTraits::fact_,                          \
   .choice = &backgauge_attributes::field,            \
   .set = #set_,                                      \
   .word = flag_word,                                 \
   .values = {0, 1}},
#define BACKGAUGE_WORD_SPEC(fact_, field, key_, set_, word_, tensorflow_word_, usual_, ...) \
  {.name = #field,                                                                          \
   .key = key_,                                                                             \
   .fact = &OpTraits::fact_,                                                                \
   .choice = &backgauge_attributes::field,                                                  \
   .set = #set_,                                                                            \
   .word = word_,                                                                           \
   .tensorflow_word = tensorflow_word_,                                                     \
   .usual = usual_,                                                                         \
   .values = {__VA_ARGS__}},
#define BACKGAUGE_REAL_SPEC(fact_, field, key_, least_, greatest_) \
  {.name = #field,                                                 \
   .key = key_,                                                    \
   .fact = &OpTraits::fact_,                                       \
   .real = &backgauge_attributes::field,                           \
   .least = least_,                                                \
   .greatest = greatest_},
#define BACKGAUGE_INTEGER_SPEC(fact_, field, least_, greatest_) \
  {.name = #field,                                              \
   .key = "",                                                   \
   .fact = &OpTraits::fact_,                                    \
   .integer = &backgauge_attributes::field,                     \
   .least = least_,                                             \
   .greatest = greatest_},

#define BACKGAUGE_COMMON_SIZE_SPEC(letter_, field, key_) \
  {.letter = *#letter_, .key = key_, .extent = &Extents::letter_},
#define BACKGAUGE_OWN_SIZE_SPEC(fact_, letter_, field, key_) \
  {.letter = *#letter_, .key = key_, .extent = &Extents::letter_, .fact = &OpTraits::fact_},

// The word of an enumerator, counted from 1.
template <std::size_t N>
std::string_view word_at(const std::array<std::string_view, N>& words, std::int32_t enumerator) {
  return enumerator >= 1 && static_cast<std::size_t>(enumerator) <= N ? words[enumerator - 1] : "?";
}

const TensorSpec& first_with(Role role, const std::vector<TensorSpec>& tensors, std::string_view op) {
  const auto found = std::ranges::find(tensors, role, &TensorSpec::role);
  if (found == tensors.end()) throw std::logic_error(std::string(op) + " has no tensor of that role");
  return *found;
}

}  // namespace

const std::vector<OpSpec>& op_specs() {
  static const std::vector<OpSpec> specs = make_op_specs();
  return specs;
}

const std::vector<AttributeSpec>& attribute_specs() {
  static const std::vector<AttributeSpec> specs = {
      BACKGAUGE_ATTRIBUTES(BACKGAUGE_FLAG_SPEC, BACKGAUGE_WORD_SPEC, BACKGAUGE_REAL_SPEC, BACKGAUGE_INTEGER_SPEC)};
  return specs;
}

const std::vector<SizeSpec>& size_specs() {
  static const std::vector<SizeSpec> specs = {BACKGAUGE_SIZES(BACKGAUGE_COMMON_SIZE_SPEC, BACKGAUGE_OWN_SIZE_SPEC)};
  return specs;
}

bool AttributeSpec::allows(const backgauge_attributes& attributes) const {
  if (choice != nullptr) return std::ranges::find(values, attributes.*choice) != values.end();
  const double value = real != nullptr ? attributes.*real : static_cast<double>(attributes.*integer);
  return value >= least && value <= greatest;  // NaN is not
}

std::string AttributeSpec::expected() const {
  if (is_flag()) return "0 or 1";
  if (real != nullptr) return "a number from " + number_text(least) + " to " + number_text(greatest);
  if (integer != nullptr) return "a whole number from " + number_text(least) + " to " + number_text(greatest);
  std::vector<std::int32_t> ascending = values;
  std::ranges::sort(ascending);
  std::string text;
  for (const std::int32_t value : ascending) {
    text += text.empty() ? "" : value == ascending.back() ? " or " : ", ";
    text.append(std::to_string(value)).append(" (").append(word(value)).append(")");
  }
  return text;
}

std::string AttributeSpec::given(const backgauge_attributes& attributes) const {
  if (real != nullptr) return number_text(attributes.*real);
  return std::to_string(choice != nullptr ? attributes.*choice : attributes.*integer);
}

bool OpSpec::has(Role role) const {
  const auto is_it = [role](const TensorSpec& tensor) { return tensor.role == role; };
  return std::ranges::any_of(inputs, is_it) || std::ranges::any_of(outputs, is_it);
}

const TensorSpec& OpSpec::input(Role role) const { return first_with(role, inputs, tensorflow); }

const TensorSpec& OpSpec::output(Role role) const { return first_with(role, outputs, tensorflow); }

const OpSpec* find_op(std::int32_t op) {
  const auto found = std::ranges::find(op_specs(), op, [](const OpSpec& spec) { return std::int32_t{spec.op}; });
  return found == op_specs().end() ? nullptr : &*found;
}

const OpSpec* find_op(std::string_view word) {
  const auto found = std::ranges::find(op_specs(), word, &OpSpec::word);
  return found == op_specs().end() ? nullptr : &*found;
}

void refuse_entry(backgauge_op op) { throw std::logic_error("no gradient op has the number " + std::to_string(op)); }

const OpSpec& spec_of(backgauge_op op) {
  const OpSpec* spec = find_op(op);
  if (spec == nullptr) throw std::logic_error("no op has the number " + std::to_string(op));
  return *spec;
}

const std::vector<backgauge_op>& gradient_ops() {
  static const std::vector<backgauge_op> ops = [] {
    std::vector<backgauge_op> out;
    for (const OpSpec& spec : op_specs()) {
      if (!spec.traits.gradient) out.push_back(spec.op);
    }
    return out;
  }();
  return ops;
}

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t extent = 8;  // bytes of the widest dtype
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    if (__builtin_mul_overflow(extent, std::max<std::int64_t>(dimension, 1), &extent)) return std::nullopt;
    count *= dimension;
  }
  return count;
}

void apply_attributes(const OpSpec& op, const backgauge_attributes& attributes, Extents& extents) {
  if (op.traits.has_peepholes) extents.peephole = attributes.use_peephole == 1;
  if (op.traits.has_modes) extents.lstm = attributes.rnn_mode == BACKGAUGE_LSTM;
  if (op.traits.has_layers) {
    extents.D = attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    extents.skips_input = attributes.input_mode == BACKGAUGE_SKIP_INPUT;
  }
}

std::optional<std::int64_t> params_length(const OpSpec& op, const backgauge_attributes& attributes,
                                          const Extents& extents) {
  if (!op.traits.flat_params) return 0;
  if (extents.L < 1) return std::nullopt;
  return checked_size(rnn_params(attributes, extents.I, extents.H, extents.L));
}

Shape mask_shape(const Extents& e) { return {e.T, e.B, e.D * e.H}; }

bool is_mask_count(std::size_t masks, const Extents& e) {
  const auto gaps = static_cast<std::size_t>(std::max<std::int64_t>(e.L - 1, 0));
  return masks == gaps || masks == gaps * static_cast<std::size_t>(e.D);
}

std::int64_t mask_elements(const Extents& extents) { return element_count(mask_shape(extents)).value_or(0); }

std::int64_t elements_in_rows(const Shape& shape, std::int64_t rows) {
  if (rows <= 0) return 0;
  if (shape.empty()) return 1;
  std::int64_t count = std::min(rows, shape[0]);
  for (std::size_t k = 1; k < shape.size(); ++k) count *= shape[k];
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

std::string shown_name(const char* name) {
  if (name == nullptr) return "NULL";
  constexpr std::size_t kLongest = 40;  // twice the longest name of a table
  std::string result(name, strnlen(name, kLongest + 1));
  if (result.size() > kLongest) result.replace(kLongest, std::string::npos, "...");
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return result.empty() ? "an empty name" : result;
}

std::string number_text(double number) {
  constexpr double kExact = 0x1p53;  // up to here every whole number is a double
  if (std::floor(number) == number && std::fabs(number) <= kExact) {
    return std::to_string(static_cast<std::int64_t>(number));
  }
  char text[32];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.9g", number))};
}

std::string_view flag_word(std::int32_t flag) { return flag == 0 ? "0" : flag == 1 ? "1" : "?"; }

std::string_view dtype_word(std::int32_t dtype) {
  if (dtype == BACKGAUGE_INT64) return "i64";
  const DtypeSpec* spec = find_dtype(dtype);
  return spec != nullptr ? spec->word : "?";
}

std::string_view rnn_mode_word(std::int32_t mode) { return word_at<4>({"relu", "tanh", "lstm", "gru"}, mode); }

std::string_view input_mode_word(std::int32_t mode) { return word_at<3>({"linear", "skip", "auto"}, mode); }

std::string_view direction_word(std::int32_t direction) { return word_at<2>({"uni", "bi"}, direction); }

std::string_view rnn_mode_attribute(std::int32_t mode) {
  return word_at<4>({"rnn_relu", "rnn_tanh", "lstm", "gru"}, mode);
}

std::string_view input_mode_attribute(std::int32_t mode) {
  return word_at<3>({"linear_input", "skip_input", "auto_select"}, mode);
}

std::string_view direction_attribute(std::int32_t direction) {
  return word_at<2>({"unidirectional", "bidirectional"}, direction);
}

std::string_view accuracy_class_word(std::int32_t cls) { return word_at<4>({"A", "A'", "S", "B"}, cls); }

std::string_view numerical_contract_word(std::int32_t contract) {
  return word_at<8>({"fp32_strict", "fp32_9xbf16", "fp32_6xbf16", "fp32_3xtf32", "fp32_3xbf16", "fp32_tf32",
                     "fp16_acc32", "bf16_acc32"},
                    contract);
}

std::string_view determinism_word(std::int32_t determinism) {
  return word_at<3>({"bitwise", "bitwise_per_thread_count", "not_deterministic"}, determinism);
}

std::string_view call_status_word(std::int32_t status) {
  if (status == BACKGAUGE_OK) return "ok";
  return word_at<5>({"invalid_argument", "unsupported", "out_of_memory", "device_error", "internal"}, status);
}

std::int32_t enumerator_of(std::string_view (*word_of)(std::int32_t), std::string_view word) {
  for (std::int32_t enumerator = 1; word_of(enumerator) != "?"; ++enumerator) {
    if (word_of(enumerator) == word) return enumerator;
  }
  return 0;
}

std::string words_in(std::string_view (*word_of)(std::int32_t), std::uint32_t set) {
  std::string words;
  for (std::int32_t enumerator = 1; word_of(enumerator) != "?"; ++enumerator) {
    if ((set & BACKGAUGE_BIT(enumerator)) != 0) words.append(words.empty() ? "" : ", ").append(word_of(enumerator));
  }
  return words;
}

}  // namespace backgauge
