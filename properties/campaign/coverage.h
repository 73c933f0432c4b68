// SPDX-License-Identifier: Apache-2.0
// What a list of cases covers, in numbers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/case.h"

namespace backgauge {

// A setting of an op, its values, and how many cases have them; values that no case has included.
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> values;
};
// Of the cases of this op among `cases`. Golden vectors are a value of their own of "data".
std::vector<Axis> coverage(backgauge_op op, const std::vector<Case>& cases);

// Legal pairs of values of two settings (settings.h), and how many of them some case has.
struct PairCoverage {
  std::int64_t covered = 0, legal = 0;
  std::string missing;  // one that no case has, "mode=gru layers=3"; "" if none
};
PairCoverage pair_coverage(backgauge_op op, const std::vector<Case>& cases);

}  // namespace backgauge
