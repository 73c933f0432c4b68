// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/forward_slope.h"

#include "properties/laws/ops/entry.h"

namespace backgauge {

void ForwardSlope::add(std::string name, std::string input, std::string gradient, const Selection& elements) {
  if (elements.from.empty()) return;
  directions_.push_back({std::move(name), std::move(input), std::move(gradient), elements.from});
}

void ForwardSlope::add_tensor(const std::string& name, const std::string& gradient) {
  if (forward_.find(name) == nullptr) return;
  add(name, name, gradient, range(0, elements_read(problem_, name)));
}

std::unique_ptr<ForwardSlope> forward_slope(const Case& c, Problem problem) {
  return law_ops::entry_of(c.op).forward_slope(c, std::move(problem));
}

}  // namespace backgauge
