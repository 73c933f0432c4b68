// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/forward_slope.h"

#include "properties/laws/ops/entry.h"

namespace backgauge {

void ForwardSlope::add(std::string name, std::string input, std::string gradient, std::vector<std::size_t> elements) {
  if (elements.empty()) return;
  directions_.push_back({std::move(name), std::move(input), std::move(gradient), std::move(elements)});
}

void ForwardSlope::add_tensor(const std::string& name, const std::string& gradient) {
  if (forward_.find(name) == nullptr) return;
  add(name, name, gradient, range(0, elements_read(problem_, name)).from);
}

std::unique_ptr<ForwardSlope> forward_slope(const Case& c, Problem problem) {
  return law_ops::entry_of(c.op).forward_slope(c, std::move(problem));
}

}  // namespace backgauge
