// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/run.h"

#include "properties/judge/call/placed_call.h"

namespace backgauge {

std::vector<RawTensor> absent_inputs(const Problem& problem) {
  std::vector<RawTensor> absent;
  Extents extents = problem.extents;
  extents.reserve_length = 0;
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    if (!spec.present(extents) || problem.find(spec.name) != nullptr) continue;
    const Shape shape = spec.shape(extents);
    const auto elements = static_cast<std::size_t>(element_count(shape).value_or(0));
    absent.push_back(
        {std::string(spec.name), shape, std::vector<std::byte>(elements * backgauge_dtype_bytes(problem.dtype))});
  }
  return absent;
}

std::string refusal_of(const Problem& problem) {
  const RunOptions options;
  return PlacedCall({}, problem, absent_inputs(problem), options, {}).shapes_refusal();
}

}  // namespace backgauge
