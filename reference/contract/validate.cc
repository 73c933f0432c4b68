// SPDX-License-Identifier: Apache-2.0
// The checks in order: the call itself, its attributes, the two tensor lists, what binds the extents, shapes against
// the table, then memory. Each step relies on those before it, and the first refusal ends it. Sizes are bound by the
// first tensor that says them, which is fast; where that leads to a refusal, the tensor that contradicts the others is
// looked for before anyone is blamed.
#include "reference/contract/validate.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "reference/contract/contradiction.h"

namespace backgauge {
namespace {

// Largest dimension taken. Sums and small multiples of such numbers (I + H, 4 * H, L * D) stay far from overflow, and
// no tensor that fits an address space of 2^47 bytes has more.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 48;

constexpr std::string_view kStateRows = "L * D";

std::string text(std::int64_t value) { return std::to_string(value); }

// Calls are validated each time they run: shapes are compared without copies.
std::span<const std::int64_t> dimensions_of(const backgauge_tensor& tensor) {
  return {tensor.shape, static_cast<std::size_t>(tensor.rank)};
}
Shape shape_of(const backgauge_tensor& tensor) { return {tensor.shape, tensor.shape + tensor.rank}; }

std::string expected_shape(const TensorSpec& spec, const Extents& extents) {
  return "shape [" + std::string(spec.shape_text) + "] = " + to_string(spec.shape(extents));
}

bool overlap(const void* first, std::uint64_t first_bytes, const void* second, std::uint64_t second_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(first);
  const auto b = reinterpret_cast<std::uintptr_t>(second);
  if (first_bytes == 0 || second_bytes == 0) return false;
  return a >= b ? a - b < second_bytes : b - a < first_bytes;
}

class Validator {
 public:
  Validator(const backgauge_call& call, bool with_memory, std::int64_t reserve_space_length)
      : call_(call), with_memory_(with_memory), reserve_space_length_(reserve_space_length) {}

  Validation run() {
    const bool accepted = check_call() && check_attributes() && check_list("inputs", op_->inputs, inputs()) &&
                          check_list("outputs", op_->outputs, outputs()) && check_descriptions() && check_sizes() &&
                          (!with_memory_ || check_memory());
    if (!accepted) return {{}, refusal_};
    return {extents_, ""};
  }

 private:
  struct Bound {
    const TensorSpec* spec;
    const backgauge_tensor* tensor;
    bool output;
    std::uint64_t bytes = 0;  // known from check_descriptions() on
  };

  bool refuse(std::string_view what, const std::string& expected, const std::string& got) {
    refusal_ = std::string(what) + ": expected " + expected + ", got " + got;
    return false;
  }

  bool refuse_enumerator(std::string_view what, const char* enumeration, std::int64_t got) {
    return refuse(what, std::string("one of ") + enumeration, text(got));
  }

  std::span<const backgauge_tensor> inputs() const {
    return {call_.inputs, static_cast<std::size_t>(std::max(call_.num_inputs, 0))};
  }
  std::span<const backgauge_tensor> outputs() const {
    return {call_.outputs, static_cast<std::size_t>(std::max(call_.num_outputs, 0))};
  }

  bool check_call() {
    // Alone first: what a shorter struct does not have must not be read.
    if (call_.struct_size < sizeof(backgauge_call)) {
      return refuse("struct_size", "at least " + text(sizeof(backgauge_call)), text(call_.struct_size));
    }
    op_ = find_op(call_.op);
    if (op_ == nullptr) return refuse_enumerator("op", "backgauge_op", call_.op);
    bound_.reserve(op_->inputs.size() + op_->outputs.size());
    if (dtype_word(call_.dtype) == "?") return refuse_enumerator("dtype", "backgauge_dtype", call_.dtype);
    if ((op_->dtypes & BACKGAUGE_BIT(call_.dtype)) == 0) {
      return refuse("dtype", "one of " + std::string(op_->tensorflow), std::string(dtype_word(call_.dtype)));
    }
    if (call_.memory_space != BACKGAUGE_HOST && call_.memory_space != BACKGAUGE_CUDA) {
      return refuse_enumerator("memory_space", "backgauge_memory_space", call_.memory_space);
    }
    if (call_.reserved != 0) return refuse("reserved", "0", text(call_.reserved));
    if (call_.num_threads < 1) return refuse("num_threads", "at least 1", text(call_.num_threads));
    if (call_.memory_space == BACKGAUGE_HOST && call_.stream != nullptr) {
      return refuse("stream", "NULL for host memory", "a stream");
    }
    return true;
  }

  bool check_attributes() {
    const backgauge_attributes& a = call_.attributes;
    if (a.reserved != 0) return refuse("attributes.reserved", "0", text(a.reserved));
    for (const AttributeSpec& attribute : op_->attributes()) {
      if (!attribute.allows(a)) return refuse(attribute.name, attribute.expected(), attribute.given(a));
    }
    apply_attributes(*op_, a, extents_);
    return true;
  }

  // The list must be the present tensors of the table, in its order.
  bool check_list(std::string_view list, const std::vector<TensorSpec>& specs,
                  std::span<const backgauge_tensor> given) {
    std::vector<const TensorSpec*> wanted;
    wanted.reserve(specs.size());
    for (const TensorSpec& spec : specs) {
      if (spec.present(extents_)) wanted.push_back(&spec);
    }
    const std::int64_t count = list == "inputs" ? call_.num_inputs : call_.num_outputs;
    if (count < 0) return refuse(list, text(static_cast<std::int64_t>(wanted.size())) + " tensors", text(count));
    if (count > 0 && given.data() == nullptr) {
      return refuse(list, text(static_cast<std::int64_t>(wanted.size())) + " tensors", "NULL");
    }
    for (std::size_t k = 0; k < std::max(given.size(), wanted.size()); ++k) {
      if (k == wanted.size()) {
        return refuse(list, "no tensor " + text(static_cast<std::int64_t>(k)),
                      shown_name(given[k].name) + remark(specs, given, k));
      }
      if (k == given.size() || given[k].name == nullptr || wanted[k]->name != given[k].name) {
        return refuse_tensor(list, specs, given, k, std::string(wanted[k]->name));
      }
      bound_.push_back({wanted[k], &given[k], list == "outputs"});
    }
    return true;
  }

  // Tensor k is missing, or another tensor is in its place.
  bool refuse_tensor(std::string_view list, const std::vector<TensorSpec>& specs,
                     std::span<const backgauge_tensor> given, std::size_t k, const std::string& wanted) {
    const std::string expected = "tensor " + text(static_cast<std::int64_t>(k)) + " to be " + wanted;
    if (k == given.size()) return refuse(list, expected, "no more tensors: " + wanted + " is missing");
    const auto count = static_cast<std::int32_t>(given.size());
    const bool missing = backgauge_find(given.data(), count, wanted.c_str()) == nullptr;
    return refuse(list, expected,
                  shown_name(given[k].name) + remark(specs, given, k) + (missing ? "; " + wanted + " is missing" : ""));
  }

  // A remark about the name of a tensor that is in the wrong place.
  std::string remark(const std::vector<TensorSpec>& specs, std::span<const backgauge_tensor> given, std::size_t k) {
    const char* name = given[k].name;
    if (name == nullptr) return "";
    const auto known = std::ranges::find(specs, std::string_view(name), &TensorSpec::name);
    if (known == specs.end()) return ", unknown to " + std::string(op_->tensorflow);
    if (!known->present(extents_)) return ", which this rnn_mode does not have";
    if (backgauge_find(given.data(), static_cast<std::int32_t>(k), name) != nullptr) return ", a duplicate";
    return "";
  }

  // prepare is asked how long reserve_space is, so the shape that the caller gave says nothing.
  bool shape_is_open(const Bound& bound) const { return !with_memory_ && bound.spec->role == Role::kReserve; }

  // Everything of a tensor that can be judged without the others.
  bool check_descriptions() {
    for (Bound& bound : bound_) {
      const auto& [spec, tensor, output, bytes] = bound;
      const std::int32_t dtype = spec->is_int64 ? std::int32_t{BACKGAUGE_INT64} : call_.dtype;
      if (tensor->dtype != dtype) {
        return refuse(spec->name, "dtype " + std::string(dtype_word(dtype)),
                      dtype_word(tensor->dtype) == "?" ? text(tensor->dtype) : std::string(dtype_word(tensor->dtype)));
      }
      const std::int32_t space = spec->is_int64 ? std::int32_t{BACKGAUGE_HOST} : call_.memory_space;
      if (tensor->memory_space != space) {
        return refuse(spec->name, space == BACKGAUGE_HOST ? "host memory" : "CUDA memory",
                      "memory_space " + text(tensor->memory_space));
      }
      if (tensor->reserved != 0) return refuse(spec->name, "reserved 0", text(tensor->reserved));
      if (shape_is_open(bound)) continue;
      const std::size_t rank = spec->dimensions.size();
      if (tensor->rank < 0 || static_cast<std::size_t>(tensor->rank) != rank) {
        return refuse(spec->name,
                      "rank " + text(static_cast<std::int64_t>(rank)) + " [" + std::string(spec->shape_text) + "]",
                      "rank " + text(tensor->rank));
      }
      for (const std::int64_t dimension : dimensions_of(*tensor)) {
        if (dimension < 0 || dimension > kLargestDimension) {
          return refuse(spec->name, "dimensions of 0 to 2^48", to_string(shape_of(*tensor)));
        }
      }
      const std::optional<std::int64_t> elements = element_count(dimensions_of(*tensor));
      if (!elements) return refuse(spec->name, "fewer than 2^60 elements", to_string(shape_of(*tensor)));
      bound.bytes = static_cast<std::uint64_t>(*elements) * backgauge_dtype_bytes(dtype);
    }
    return true;
  }

  bool check_sizes() {
    if (bind_sizes() && bind_seq_len_max() && bind_params_length() && bind_reserve_length() && check_shapes())
      return true;
    refuse_contradiction();
    return false;
  }

  // Puts what it finds in the place of a refusal that follows from it.
  void refuse_contradiction() {
    std::vector<GivenShape> shapes;
    for (const Bound& bound : bound_) {
      // Its length comes from prepare: it says nothing of the sizes.
      if (bound.spec->role != Role::kReserve) shapes.push_back({bound.spec, dimensions_of(*bound.tensor)});
    }
    const auto found = find_contradiction(*op_, call_.attributes, extents_, shapes);
    if (!found) return;
    const auto& [spec, shape] = found->tensor;
    refuse(spec->name, expected_shape(*spec, found->extents),
           to_string(Shape(shape.begin(), shape.end())) + (found->origin.empty() ? "" : "; " + found->origin));
  }

  // The first tensor where T, B, I or H is a dimension of its own decides it; L follows from the first L * D.
  bool bind_sizes() {
    bool states_known = false;
    std::uint32_t known = 0;  // a bit for each letter
    for (const auto& [spec, tensor, output, bytes] : bound_) {
      for (std::size_t k = 0; k < spec->dimensions.size(); ++k) {
        const std::string_view name = spec->dimensions[k];
        const std::int64_t dimension = tensor->shape[k];
        if (name.size() != 1) {
          if (states_known || name != kStateRows) continue;
          if (dimension % extents_.D != 0 || dimension == 0) {
            return refuse(
                spec->name,
                "dimension " + text(static_cast<std::int64_t>(k)) + " of L * D with L >= 1 and D = " + text(extents_.D),
                text(dimension));
          }
          extents_.L = dimension / extents_.D;
          states_known = true;
          continue;
        }
        const std::uint32_t letter = std::uint32_t{1} << (name[0] - 'A');
        if ((known & letter) != 0) continue;
        known |= letter;
        const auto size = std::ranges::find(size_specs(), name[0], &SizeSpec::letter);
        if (size == size_specs().end()) continue;
        const std::int64_t least = name == "T" ? op_->traits.least_steps : name == "H" ? 1 : 0;
        if (dimension < least) return refuse(spec->name, std::string(name) + " of at least 1", "0");
        extents_.*size->extent = dimension;
      }
    }
    return true;
  }

  bool bind_seq_len_max() {
    const auto found = std::ranges::find_if(bound_, [](const Bound& bound) { return bound.spec->is_int64; });
    if (found == bound_.end()) return true;
    const void* data = found->tensor->data;  // read by prepare too
    if (data == nullptr) return refuse(found->spec->name, "data", "NULL");
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::int64_t) != 0) {
      return refuse(found->spec->name, "data aligned to 8 bytes", "a misaligned address");
    }
    std::memcpy(&extents_.S, data, sizeof extents_.S);
    if (extents_.S < 0 || extents_.S > extents_.T) {
      return refuse(found->spec->name, "0 <= seq_len_max <= T = " + text(extents_.T), text(extents_.S));
    }
    return true;
  }

  bool bind_params_length() {
    if (extents_.skips_input && extents_.I != extents_.H) {
      return refuse("input", "I = H = " + text(extents_.H) + " with skip_input", "I = " + text(extents_.I));
    }
    const auto length = params_length(*op_, call_.attributes, extents_);
    if (!length) return refuse("params", "a length below 2^60", "a length that overflows");
    extents_.params_length = *length;
    return true;
  }

  bool bind_reserve_length() {
    const auto found =
        std::ranges::find_if(bound_, [](const Bound& bound) { return bound.spec->role == Role::kReserve; });
    if (found == bound_.end()) return true;
    if (with_memory_ && reserve_space_length_ == kAnyLength) {
      extents_.reserve_length = found->tensor->shape[0];  // its rank and its dimension have been looked at
      return true;
    }
    if (with_memory_ && reserve_space_length_ < 0) {
      return refuse(found->spec->name, "a length of at least 0 from prepare", text(reserve_space_length_));
    }
    extents_.reserve_length = with_memory_ ? reserve_space_length_ : 0;
    return true;
  }

  bool check_shapes() {
    for (const Bound& bound : bound_) {
      if (shape_is_open(bound)) continue;
      if (!bound.spec->has_shape(extents_, dimensions_of(*bound.tensor))) {
        return refuse(bound.spec->name, expected_shape(*bound.spec, extents_), to_string(shape_of(*bound.tensor)));
      }
    }
    return true;
  }

  bool check_memory() {
    for (const auto& [spec, tensor, output, bytes] : bound_) {
      if (bytes == 0) continue;
      if (tensor->data == nullptr) return refuse(spec->name, "data", "NULL");
      const std::size_t element = backgauge_dtype_bytes(tensor->dtype);
      if ((reinterpret_cast<std::uintptr_t>(tensor->data) & (element - 1)) != 0) {
        return refuse(spec->name, "data aligned to " + text(static_cast<std::int64_t>(element)) + " bytes",
                      "a misaligned address");
      }
    }
    if (call_.workspace == nullptr && call_.workspace_bytes > 0) return refuse("workspace", "memory", "NULL");
    for (const Bound& bound : bound_) {
      if (overlap(call_.workspace, call_.workspace_bytes, bound.tensor->data, bound.bytes)) {
        return refuse(bound.spec->name, "memory apart from the workspace", "an overlap");
      }
      if (bound.output && !check_apart(bound)) return false;
    }
    return true;
  }

  // Addresses of all memory spaces are comparable: CUDA gives host and devices one address space.
  bool check_apart(const Bound& output) {
    for (const Bound& other : bound_) {
      if (other.output && other.tensor >= output.tensor) break;  // each pair of outputs once
      if (!overlap(output.tensor->data, output.bytes, other.tensor->data, other.bytes)) continue;
      const bool shared = !other.output && other.spec->name == output.spec->alias;
      if (shared && other.tensor->data == output.tensor->data) continue;
      return refuse(output.spec->name, "memory apart from " + std::string(other.spec->name),
                    shared ? "a partial overlap" : "an overlap");
    }
    return true;
  }

  const backgauge_call& call_;
  const bool with_memory_;
  const std::int64_t reserve_space_length_;
  const OpSpec* op_ = nullptr;
  Extents extents_;
  std::vector<Bound> bound_;
  std::string refusal_;
};

}  // namespace

Validation validate(const backgauge_call& call, std::int64_t reserve_space_length) {
  return Validator(call, true, reserve_space_length).run();
}

Validation validate_shapes(const backgauge_call& call) { return Validator(call, false, 0).run(); }

}  // namespace backgauge
