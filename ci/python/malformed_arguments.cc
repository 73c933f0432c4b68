// SPDX-License-Identifier: Apache-2.0
#include "ci/python/malformed_arguments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string_view>

#include "reference/contract/op_spec.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/validate.h"

namespace backgauge::python {
namespace {

// Malformed calls are made from legal ones of a few hundred elements: twice as many must fit, 2^31 need not.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

constexpr std::uint32_t kDtypesOfNumpy = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32) |
                                         BACKGAUGE_BIT(BACKGAUGE_FLOAT64) | BACKGAUGE_BIT(BACKGAUGE_INT64);

std::span<const std::int64_t> shape_of(const backgauge_tensor& tensor) {
  return {tensor.shape, static_cast<std::size_t>(tensor.rank)};
}

// Whether NumPy can have an array of this description, which may be damaged.
bool is_an_array(const backgauge_tensor& tensor) {
  if (tensor.rank < 0 || tensor.rank > BACKGAUGE_MAX_RANK) return false;
  if (tensor.dtype < 0 || tensor.dtype > 31 || (kDtypesOfNumpy & BACKGAUGE_BIT(tensor.dtype)) == 0) return false;
  const auto elements = element_count(shape_of(tensor));
  return elements && *elements <= kMostBytes / static_cast<std::int64_t>(backgauge_dtype_bytes(tensor.dtype));
}

// Whether it can be read: memory past the end of an unaligned tensor may be unmapped.
bool has_a_value(const backgauge_tensor& number) {
  return number.data != nullptr && reinterpret_cast<std::uintptr_t>(number.data) % alignof(std::int64_t) == 0;
}

// The input of that name, if the call has it once.
const backgauge_tensor* only_one(std::span<const backgauge_tensor> inputs, std::string_view name) {
  const auto is_it = [&](const backgauge_tensor& tensor) { return tensor.name != nullptr && tensor.name == name; };
  if (std::ranges::count_if(inputs, is_it) != 1) return nullptr;
  return &*std::ranges::find_if(inputs, is_it);
}

// The legal call of the sizes that the arguments say, each the first time that it is a dimension of its own, and of the
// attributes that are arguments.
CallSetup setup_of(const OpSpec& spec, const backgauge_call& call, std::span<const backgauge_tensor> inputs) {
  const auto numbers = std::ranges::find(spec.inputs, false, &TensorSpec::is_int64) - spec.inputs.begin();
  const std::int32_t dtype = inputs[static_cast<std::size_t>(numbers)].dtype;
  CallSetup setup{spec.op, static_cast<backgauge_dtype>(dtype), call.attributes, {}};
  setup.attributes.reserved = 0;  // no argument
  Extents& extents = setup.extents;
  apply_attributes(spec, call.attributes, extents);
  for (const SizeSpec& size : spec.sizes()) {
    const std::string_view name(&size.letter, 1);
    for (std::size_t k = inputs.size(); k-- > 0;) {
      const std::vector<std::string_view>& dimensions = spec.inputs[k].dimensions;
      const auto at = static_cast<std::size_t>(std::ranges::find(dimensions, name) - dimensions.begin());
      if (at < dimensions.size() && at < shape_of(inputs[k]).size()) extents.*size.extent = inputs[k].shape[at];
    }
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (spec.inputs[k].is_int64) std::memcpy(&extents.S, inputs[k].data, sizeof extents.S);
  }
  return setup;
}

bool are_legal(const OpSpec& spec, const backgauge_call& call, std::span<const backgauge_tensor> inputs) {
  const DescribedCall legal(setup_of(spec, call, inputs));
  const auto same = [](const backgauge_tensor& a, const backgauge_tensor& b) {
    return a.dtype == b.dtype && std::ranges::equal(shape_of(a), shape_of(b));
  };
  return std::ranges::equal(legal.inputs, inputs, same) && validate_shapes(legal.call).ok();
}

}  // namespace

std::optional<MalformedArguments> malformed_arguments(const backgauge_call& call) {
  if (call.struct_size < sizeof call || call.num_inputs < 0 || call.inputs == nullptr) return std::nullopt;
  const OpSpec* const spec = find_op(call.op);
  const std::span given(call.inputs, static_cast<std::size_t>(call.num_inputs));
  if (spec == nullptr || spec->traits.forward || spec->traits.gradient) return std::nullopt;
  if (given.size() != spec->inputs.size()) return std::nullopt;
  const auto is_legal = [&](const AttributeSpec& attribute) { return attribute.allows(call.attributes); };
  if (!std::ranges::all_of(spec->attributes(), is_legal)) return std::nullopt;
  MalformedArguments out;
  for (const TensorSpec& wanted : spec->inputs) {
    const backgauge_tensor* const found = only_one(given, wanted.name);
    if (found == nullptr) return std::nullopt;
    backgauge_tensor seen = *found;
    if (wanted.is_int64) {  // an int in Python
      if (!has_a_value(seen)) return std::nullopt;
      seen.dtype = BACKGAUGE_INT64;
      seen.rank = 0;
    }
    if (!is_an_array(seen)) return std::nullopt;
    // Also an array without elements has an address.
    std::vector<std::uint64_t>& own = out.memory.emplace_back(static_cast<std::size_t>(backgauge_elements(&seen)) + 1);
    if (wanted.is_int64) std::memcpy(own.data(), seen.data, sizeof(std::int64_t));
    seen.data = own.data();
    out.inputs.push_back(seen);
  }
  if (are_legal(*spec, call, out.inputs)) return std::nullopt;
  return out;
}

}  // namespace backgauge::python
