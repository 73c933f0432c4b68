// SPDX-License-Identifier: Apache-2.0
// exp, tanh and the logistic function with the same bits on every platform: only + - * / and ldexp of IEEE double in a
// fixed order, and no mathematics library. Relative error below 1e-15 where the result is a normal number.
#pragma once

#include <cmath>

namespace backgauge {
namespace portable {

// x = n ln 2 + r with |r| <= ln 2 / 2.
struct Reduced {
  int n;
  double r;
};
inline Reduced reduce(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42feep-1;  // 32 bits: n * kLn2High is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const double n = std::floor(x * kLog2E + 0.5);
  return {static_cast<int>(n), (x - n * kLn2High) - n * kLn2Low};
}

// exp(r) - 1: Taylor to r^13 / 13!; the next term is below 2e-17 of the sum at |r| = ln 2 / 2.
inline double expm1_reduced(double r) {
  constexpr double kFactorial[] = {1,    1,     2,      6,       24,       120,       720,
                                   5040, 40320, 362880, 3628800, 39916800, 479001600, 6227020800};
  double sum = 1 / kFactorial[13];
  for (int k = 12; k >= 1; --k) sum = sum * r + 1 / kFactorial[k];
  return sum * r;
}

inline double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return HUGE_VAL;  // above ln of the largest double
  if (x < -746) return 0;        // below ln of half the smallest double
  const auto [n, r] = reduce(x);
  return std::ldexp(1 + expm1_reduced(r), n);
}

inline double sigmoid(double x) {
  const double e = exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1 + e);
}

// tanh(a) = t / (t + 2) with t = exp(2a) - 1, which keeps its relative accuracy near 0.
inline double tanh(double x) {
  const double a = std::fabs(x);
  if (!(a < 20)) return std::isnan(x) ? x : std::copysign(1.0, x);  // 1 - tanh(20) = 8.5e-18
  const auto [n, r] = reduce(2 * a);
  const double t = n == 0 ? expm1_reduced(r) : std::ldexp(1 + expm1_reduced(r), n) - 1;
  return std::copysign(t / (t + 2), x);
}

}  // namespace portable
}  // namespace backgauge
