// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/shaped_problem.h"

#include <algorithm>
#include <stdexcept>

namespace backgauge {
Problem shaped_problem(const Case& c) {
  Problem problem;
  problem.op = c.op;
  problem.dtype = c.dtype;
  problem.attributes = attributes_of(c);
  problem.extents = extents_of(c);
  for (const TensorSpec& spec : spec_of(c.op).inputs) {
    if (!spec.present(problem.extents) || is_made_by_forward(spec.role)) continue;
    problem.inputs.push_back({std::string(spec.name), spec.shape(problem.extents), {}});
  }
  return problem;
}

const TensorSpec& spec_of(backgauge_op op, const Tensor& tensor) {
  const std::vector<TensorSpec>& specs = spec_of(op).inputs;
  const auto found = std::ranges::find(specs, tensor.name, &TensorSpec::name);
  if (found == specs.end()) throw std::logic_error(tensor.name + " is not an input of the op");
  return *found;
}

backgauge_dtype dtype_of(const Problem& problem, const Tensor& tensor) {
  return spec_of(problem.op, tensor).is_int64 ? BACKGAUGE_INT64 : problem.dtype;
}

}  // namespace backgauge
