// SPDX-License-Identifier: Apache-2.0
// The largest numbers that occur in a product with a factor that is a difference, where an implementation multiplies
// the difference out: the largest number that g is multiplied by in g s(1-s), g s - g s s and so on.
// Sizes: bounds.md 3; forms: 3.11.
#pragma once

#include <algorithm>
#include <cmath>

namespace backgauge {

// s(1-s), where s is within e of v: g s, g (1-s), g s s
inline double reach_of_sigmoid_slope(double v, double e) {
  const double size = std::abs(v) + e;
  return std::max({size, std::abs(1 - v) + e, size * size});
}

// 1-t^2: g t, g + g t, g (1-t), g t t
inline double reach_of_tanh_slope(double v, double e) {
  const double size = std::abs(v) + e;
  return std::max(1 + size, size * size);
}

// x-y, where x and y are of these sizes and x-y of that one: g x, g y
inline double reach_of_difference(double x, double y, double difference) { return std::max({x, y, difference}); }

}  // namespace backgauge
