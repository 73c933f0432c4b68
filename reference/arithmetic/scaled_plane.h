// SPDX-License-Identifier: Apache-2.0
// Values as floats, with a power of two as their common factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/arithmetic/plane.h"

namespace backgauge {

// The largest power of two that is not above x; 0 if there is none.
inline double power_of_two_below(double x) {
  return x > 0 && x <= std::numeric_limits<double>::max() ? std::ldexp(1, std::ilogb(x)) : 0;
}

// |x| of the largest finite element; 0 if there is none. x: a plane, or an expression of one that is cheap to evaluate
// twice. In several lanes, which compilers turn into vectors; the order does not change a maximum.
template <class Values>
double largest_of(const Values& x) {
  constexpr int kLanes = 8;
  double largest[kLanes] = {};
  const auto meet = [&](double& most, Index k) {
    const double size = std::abs(x.coeff(k));
    const double finite = size <= std::numeric_limits<double>::max() ? size : 0;
    most = finite > most ? finite : most;
  };
  Index k = 0;
  for (; k + kLanes <= x.size(); k += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) meet(largest[lane], k + lane);
  }
  for (; k < x.size(); ++k) meet(largest[0], k);
  return *std::max_element(largest, largest + kLanes);
}

// The power of two by which values are divided so that their largest finite number is about 1.
template <class Values>
double scale_of(const Values& x) {
  const double scale = power_of_two_below(largest_of(x));
  return scale == 0 ? 1 : scale;
}

// x / scale, for a power of two. The inverse of a power of two is exact unless it overflows, and to multiply by it
// is several times faster.
template <class Values>
Plane<float> scaled_floats(const Values& x, double scale) {
  if (scale >= 0x1p-1000) return (x * (1 / scale)).template cast<float>();
  return (x / scale).template cast<float>();
}

// Values divided by a power of two, so that the largest is about 1. Those 2^-126 times smaller become 0.
struct ScaledPlane {
  double scale;
  Plane<float> values;

  template <class Values>
  explicit ScaledPlane(const Values& of) : scale(scale_of(of)), values(scaled_floats(of, scale)) {}
};

}  // namespace backgauge
