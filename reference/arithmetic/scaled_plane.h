// SPDX-License-Identifier: Apache-2.0
// Values as floats, with a power of two as their common factor.
#pragma once

#include <cmath>
#include <limits>

#include "reference/arithmetic/plane.h"

namespace backgauge {

// The largest power of two that is not above x; 0 if there is none.
inline double power_of_two_below(double x) {
  return x > 0 && x <= std::numeric_limits<double>::max() ? std::ldexp(1, std::ilogb(x)) : 0;
}

// |x| of the largest finite element; 0 if there is none.
inline double largest_of(const Plane<double>& x) {
  double largest = 0;
  for (Index k = 0; k < x.size(); ++k) {
    const double size = std::abs(x.data()[k]);
    if (size > largest && size <= std::numeric_limits<double>::max()) largest = size;
  }
  return largest;
}

// Values divided by a power of two, so that the largest is about 1. Those 2^-126 times smaller become 0.
struct ScaledPlane {
  double scale;
  Plane<float> values;

  explicit ScaledPlane(const Plane<double>& of) : scale(power_of_two_below(largest_of(of))) {
    if (scale == 0) scale = 1;
    values = (of / scale).cast<float>();
  }
};

}  // namespace backgauge
