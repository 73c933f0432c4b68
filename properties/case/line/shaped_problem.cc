// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/shaped_problem.h"

#include <algorithm>
#include <array>

namespace backgauge {
namespace {

bool made_by_forward(std::string_view name) {
  constexpr std::array<std::string_view, 4> kMade = {"output", "output_h", "output_c", "reserve_space"};
  return std::ranges::find(kMade, name) != kMade.end();
}

}  // namespace

Problem shaped_problem(const Case& c) {
  Problem problem;
  problem.op = c.op;
  problem.dtype = c.dtype;
  problem.attributes = attributes_of(c);
  problem.extents = extents_of(c);
  for (const TensorSpec& spec : find_op(c.op)->inputs) {
    if (!spec.present(problem.extents) || made_by_forward(spec.name)) continue;
    problem.inputs.push_back({std::string(spec.name), spec.shape(problem.extents), {}});
  }
  return problem;
}

}  // namespace backgauge
