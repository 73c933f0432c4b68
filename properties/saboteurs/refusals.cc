// SPDX-License-Identifier: Apache-2.0
// Faults of group K: calls that the contract refuses and a variant accepts. What the variant does not check is repaired
// in a copy of the call; if the contract accepts the copy, the variant accepts the call.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "properties/saboteurs/ops.h"
#include "properties/saboteurs/tensors.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/validate.h"

namespace backgauge::saboteurs {
namespace {

// A copy of a call whose tensor lists match the op's table. It may be changed.
class Copy {
 public:
  Copy(Copy&&) = default;

  // nullopt if the lists cannot be read.
  static std::optional<Copy> of(const backgauge_call& call) {
    const OpSpec* spec = find_op(call.op);
    if (spec == nullptr || call.inputs == nullptr || call.outputs == nullptr) return std::nullopt;
    Copy copy(call);
    if (!copy.pair(spec->inputs, copy.inputs_) || !copy.pair(spec->outputs, copy.outputs_)) return std::nullopt;
    return copy;
  }

  struct Pair {
    const TensorSpec* spec;
    backgauge_tensor* tensor;
    std::size_t rank() const { return spec->dimensions.size(); }
  };

  backgauge_attributes& attributes() { return call_.attributes; }
  std::vector<Pair>& pairs() { return pairs_; }
  backgauge_tensor* find(std::string_view name) {
    const auto pair = std::ranges::find_if(pairs_, [&](const Pair& each) { return each.spec->name == name; });
    return pair == pairs_.end() ? nullptr : pair->tensor;
  }
  void set_seq_len_max(const std::int64_t* value) { find("seq_len_max")->data = const_cast<std::int64_t*>(value); }

  // Each size from the first tensor that has it; nullopt if such a tensor has the wrong rank.
  std::optional<Extents> sizes() {
    Extents extents{.peephole = call_.attributes.use_peephole == 1,
                    .lstm = call_.attributes.rnn_mode == BACKGAUGE_LSTM};
    constexpr std::int64_t kLargest = std::int64_t{1} << 48;  // the limit of the contract: no sum of sizes overflows
    extents.D = call_.attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    const bool is_rnn = find("input") != nullptr, is_cell = find("dicfo") != nullptr;
    const backgauge_tensor* x = find(is_rnn ? "input" : "x");
    const backgauge_tensor* state = find(is_rnn ? "input_h" : "cs_prev");
    if (x == nullptr || state == nullptr || x->rank != (is_cell ? 2 : 3) || state->rank != (is_rnn ? 3 : 2)) return {};
    if (!is_cell) extents.T = x->shape[0];
    extents.B = x->shape[x->rank - 2];
    extents.I = x->shape[x->rank - 1];
    extents.H = state->shape[state->rank - 1];
    if (is_rnn) extents.L = state->shape[0] / extents.D;
    for (const std::int64_t size : {extents.T, extents.B, extents.I, extents.H, extents.L - 1}) {
      if (size < 0 || size > kLargest) return {};
    }
    if (!is_rnn) return extents;
    const auto length = checked_size(rnn_params(call_.attributes, extents.I, extents.H, extents.L));
    if (!length) return {};
    extents.params_length = *length;
    return extents;
  }

  static bool has_shape(const Pair& pair, const Extents& extents) {
    const Shape shape = pair.spec->shape(extents);
    return pair.spec->name == "reserve_space" ||
           std::ranges::equal(shape, std::vector<std::int64_t>(pair.tensor->shape, pair.tensor->shape + pair.rank()));
  }
  static void set_shape(const Pair& pair, const Extents& extents) {
    if (pair.spec->name != "reserve_space") std::ranges::copy(pair.spec->shape(extents), pair.tensor->shape);
  }

  bool is_legal() { return validate_shapes(linked()).ok(); }
  const backgauge_call& linked() {
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
    return call_;
  }

 private:
  explicit Copy(const backgauge_call& call)
      : call_(call),
        inputs_(call.inputs, call.inputs + std::max(call.num_inputs, 0)),
        outputs_(call.outputs, call.outputs + std::max(call.num_outputs, 0)) {}

  bool pair(const std::vector<TensorSpec>& specs, std::vector<backgauge_tensor>& tensors) {
    std::size_t k = 0;
    for (const TensorSpec& spec : specs) {
      if (k == tensors.size()) break;
      if (tensors[k].name == nullptr || spec.name != tensors[k].name) continue;  // absent in this mode
      pairs_.push_back({&spec, &tensors[k++]});
    }
    return k == tensors.size();
  }

  backgauge_call call_;
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<Pair> pairs_;
};

bool leaves_rank_unchecked(Fault fault, std::string_view name) {
  switch (fault) {
    case Fault::kK1: return name != "seq_len_max";
    case Fault::kK2: return is_saved(name);
    case Fault::kK3: return name == "input";
    case Fault::kK13: return name == "seq_len_max";
    default: return false;
  }
}

void mend_ranks(Copy& copy, Fault fault) {
  for (const Copy::Pair& pair : copy.pairs()) {
    if (!leaves_rank_unchecked(fault, pair.spec->name)) continue;
    pair.tensor->rank = static_cast<std::int32_t>(pair.rank());
  }
}

void mend_sizes(Copy& copy) {
  const auto extents = copy.sizes();
  if (!extents) return;
  for (const Copy::Pair& pair : copy.pairs()) {
    const bool has_rank = pair.tensor->rank == static_cast<std::int32_t>(pair.rank());
    const bool is_length = pair.spec->name == "params" || pair.spec->name == "params_backprop";
    if (has_rank && !is_length) Copy::set_shape(pair, *extents);
  }
}

void mend_length(Copy& copy, std::string_view name) {
  const auto extents = copy.sizes();
  backgauge_tensor* tensor = copy.find(name);
  if (!extents || tensor == nullptr || tensor->rank != 1) return;
  tensor->shape[0] = name == "params" ? extents->params_length : extents->H;
}

// Replaces H = 0 in every tensor.
void mend_no_units(Copy& copy) {
  auto extents = copy.sizes();
  if (!extents || extents->H != 0) return;
  for (const Copy::Pair& pair : copy.pairs()) {
    if (pair.tensor->rank != static_cast<std::int32_t>(pair.rank()) || !Copy::has_shape(pair, *extents)) return;
  }
  extents->H = 1;
  if (copy.attributes().input_mode == BACKGAUGE_SKIP_INPUT) extents->I = 1;
  const auto length = checked_size(rnn_params(copy.attributes(), extents->I, extents->H, extents->L));
  extents->params_length = length.value_or(0);
  for (const Copy::Pair& pair : copy.pairs()) Copy::set_shape(pair, *extents);
}

// Tries every value of an enumeration.
void mend_enumerator(Copy& copy, std::int32_t backgauge_attributes::*field, std::string_view (*word_of)(std::int32_t)) {
  std::int32_t& value = copy.attributes().*field;
  if (word_of(value) != "?") return;
  for (value = 1; word_of(value) != "?" && !copy.is_legal();) ++value;
}

void mend_attributes(Copy& copy) {
  float& dropout = copy.attributes().dropout;
  if (!(dropout >= 0 && dropout <= 1)) dropout = 0;
  std::int32_t& use_peephole = copy.attributes().use_peephole;
  use_peephole = use_peephole != 0;
  mend_enumerator(copy, &backgauge_attributes::rnn_mode, rnn_mode_word);
  mend_enumerator(copy, &backgauge_attributes::input_mode, input_mode_word);
  mend_enumerator(copy, &backgauge_attributes::direction, direction_word);
}

void mend_seq_len_max(Copy& copy) {
  static constexpr std::int64_t kNoStep = 0;
  backgauge_tensor* tensor = copy.find("seq_len_max");
  if (tensor != nullptr && tensor->data != nullptr) tensor->data = const_cast<std::int64_t*>(&kNoStep);
}

// Legal if reserve_space may have any length.
bool is_legal_but_for_reserve_space(const backgauge_call& call, Copy& copy) {
  const backgauge_tensor* reserve = copy.find("reserve_space");
  return reserve != nullptr && reserve->rank == 1 && reserve->shape[0] >= 0 && validate(call, reserve->shape[0]).ok();
}

}  // namespace

bool takes_malformed(const Variant& variant, const backgauge_call& call) {
  if (variant.group != "K") return false;
  std::optional<Copy> copy = Copy::of(call);
  if (!copy) return false;
  if (variant.fault == Fault::kK15) return is_legal_but_for_reserve_space(call, *copy);
  if (copy->is_legal()) return false;  // refused because of its memory, which every variant checks
  switch (variant.fault) {
    case Fault::kK1:
    case Fault::kK2:
    case Fault::kK3:
    case Fault::kK13: mend_ranks(*copy, variant.fault); break;
    case Fault::kK6: mend_seq_len_max(*copy); break;
    case Fault::kK7: mend_sizes(*copy); break;
    case Fault::kK9:
      for (const char* name : {"wci", "wcf", "wco"}) mend_length(*copy, name);
      break;
    case Fault::kK10: mend_no_units(*copy); break;
    case Fault::kK11: mend_length(*copy, "params"); break;
    case Fault::kK14: mend_attributes(*copy); break;
    default: return false;
  }
  return copy->is_legal();
}

void write_early(const backgauge_call& call) {
  std::optional<Copy> copy = Copy::of(call);
  if (!copy) return;
  const backgauge_tensor& first = call.outputs[0];
  const bool has_memory = call.num_outputs > 0 && first.data != nullptr && backgauge_dtype_bytes(first.dtype) > 0;
  if (has_memory) std::memset(first.data, 0, 1);
}

}  // namespace backgauge::saboteurs
