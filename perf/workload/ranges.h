// SPDX-License-Identifier: Apache-2.0
// Workloads over ranges of sizes: --H=256:1024:*2 --dtype=f32,f16 makes every combination out of each workload.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

// On input comma-separated numbers and ranges: "16", "a:b" (steps of 1), "a:b:step", "a:b:*factor"; b is
// included if a step reaches it. On output the numbers in that order, or none and `error`.
std::vector<std::int64_t> parse_numbers(const std::string& text, std::string& error);

// Empty: the value of the case.
struct Ranges {
  std::map<char, std::vector<std::int64_t>> sizes;  // by the letters of SizeSpec
  std::vector<backgauge_dtype> dtypes;
};

// Every combination, the dtype running fastest, then H, I, B, T. If a case has I = H and no range is given for I, I
// follows H; if it has seq = T, seq follows T. Combinations that are not legal are left out: a dtype that the op does
// not have, skip_input with I != H. The largest number of combinations of one case.
double combinations(const Ranges& ranges);

std::vector<Case> expand(const Case& c, Ranges ranges);

}  // namespace backgauge
