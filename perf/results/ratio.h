// SPDX-License-Identifier: Apache-2.0
// The ratio of two times of one run, where their samples can carry one.
#pragma once

#include <string>

#include "perf/results/results.h"

namespace backgauge {

struct Ratio {
  double value = 0;       // time of the base / time of the entry: above 1 is faster than the base
  std::string missing{};  // why there is none, in a word, or "": see ratio_of()
};

// On input two entries of one workload. The samples of calls in one thread that never wait are compared by their CPU
// time, which other load on the machine does not lengthen; all others by the clock. The ratio is
// missing if
//   "unjudged"   the results were not judged,
//   "disturbed"  the times are by the clock, and most samples of one of the two are disturbed,
//   "spread"     the rounds leave the ratio open by more than a factor of kMostSpread.
Ratio ratio_of(const Entry& base, const Entry& entry, int threads);

// Beyond that not even the first digit of a ratio is certain.
inline constexpr double kMostSpread = 1.5;

}  // namespace backgauge
