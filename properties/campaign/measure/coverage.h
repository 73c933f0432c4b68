// SPDX-License-Identifier: Apache-2.0
// Counts what a list of cases covers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

// A setting of an op, all its values, and how many cases have each.
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> values;
};
// Only cases of this op are counted. Golden vectors are a value of their own of "data".
std::vector<Axis> coverage(backgauge_op op, const std::vector<Case>& cases);

// Legal pairs of values of two settings (settings.h), and how many of them occur in a case.
struct PairCoverage {
  std::int64_t covered = 0, legal = 0;
  std::string missing;  // a pair that no case has, "mode=gru layers=3"; "" if there is none
};
PairCoverage pair_coverage(backgauge_op op, const std::vector<Case>& cases);

// The same for legal combinations of `strength` conditions on sizes (size_conditions.h), 2 or 3.
PairCoverage size_coverage(backgauge_op op, const std::vector<Case>& cases, int strength);

}  // namespace backgauge
