// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/ops/one_unit.h"

#include <stdexcept>

#include "properties/case/line/shaped_problem.h"
#include "properties/laws/transform.h"

namespace backgauge::law_ops {

OneUnit::OneUnit(const Case& c, bool coarse)
    : c_(c), coarse_(coarse), problem_(shaped_problem(c)), stream_(c.seed, "by_hand") {}

double OneUnit::one_of(const std::vector<double>& values) {
  return values[static_cast<std::size_t>(stream_.choice(drawn_++, static_cast<std::int64_t>(values.size())))];
}

double OneUnit::set(std::string_view name, double value) {
  if (problem_.find(name) != nullptr) input(problem_, name).values = {value};
  return value;
}

std::vector<double>& OneUnit::values_of(std::string_view name) { return input(problem_, name).values; }

}  // namespace backgauge::law_ops
