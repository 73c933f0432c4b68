// SPDX-License-Identifier: Apache-2.0
// Decides whether agreement within a bound proves anything. The resolution of an output is the median of |want| /
// allowed over its elements, where a want of 0 and a bound of inf count as 0. Elements that the contract determines
// (bound 0, or a value that is not finite) are left out: agreement there is complete. An output whose resolution is
// below the least useful one is vacuous: mostly zero, or with bounds too wide to notice a wrong term.
#pragma once

#include "reference/oracle.h"

namespace backgauge {

// 0 if every element is determined, or there is none.
struct Resolution {
  double median = 0;
  bool all_determined = true;
};
Resolution resolution(const Wanted& wanted);

// The resolution that an implementation with these declarations must be judged with.
double least_resolution(backgauge_dtype dtype, const Declared& declared);

}  // namespace backgauge
