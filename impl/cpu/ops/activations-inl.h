// SPDX-License-Identifier: Apache-2.0
// sigmoid and tanh of a vector of float or double, with an error of at most 2.5 ulp, and within the 4 roundings that
// reference/arithmetic/bounds.md 3.6 allows; subnormal results of sigmoid may be 0. Exact at the limits; NaN gives
// NaN.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_ACTIVATIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_ACTIVATIONS_INL_H
#undef BACKGAUGE_CPU_ACTIVATIONS_INL_H
#else
#define BACKGAUGE_CPU_ACTIVATIONS_INL_H
#endif
// clang-format on

#include <array>

#include "impl/cpu/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class T>
struct ExponentialConstants;

// kTerms: terms of the series of e^r after which the remainder is below a 16th of a rounding at r = ln(2) / 2.
// kRound: adding it to a number leaves the nearest integer in the last bits.
// ln(2) in two parts, the first with so few bits that its products with exponents are exact.
template <>
struct ExponentialConstants<float> {
  static constexpr int kTerms = 8, kMantissaBits = 23;
  static constexpr float kRound = 0x1.8p23f, kLog2High = 0x1.63p-1f, kLog2Low = -0x1.bd0106p-13f;
  static constexpr float kLargest = 88;  // e^-88 is subnormal
  static constexpr float kTanhIsOne = 10;
};
template <>
struct ExponentialConstants<double> {
  static constexpr int kTerms = 14, kMantissaBits = 52;
  static constexpr double kRound = 0x1.8p52, kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kLargest = 709;
  static constexpr double kTanhIsOne = 20;
};

// 1 / n! for n = 0 .. kTerms.
template <class T>
inline constexpr auto kSeries = [] {
  std::array<T, ExponentialConstants<T>::kTerms + 1> terms{};
  double factorial = 1;
  for (std::size_t n = 0; n < terms.size(); factorial *= static_cast<double>(++n)) {
    terms[n] = static_cast<T>(1 / factorial);
  }
  return terms;
}();

// e^v = scale (1 + rest), where scale is a power of 2, and rest has a small relative error even near 0.
template <class V>
struct Exponential {
  V scale, rest;
};

// |v| at most kLargest.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Exponential<V> exponential(D d, V v) {
  using T = hn::TFromD<D>;
  using Constants = ExponentialConstants<T>;
  const hn::RebindToUnsigned<D> bits;
  const V round = hn::Set(d, Constants::kRound);
  const V shifted = hn::MulAdd(v, hn::Set(d, static_cast<T>(1.4426950408889634)), round);
  const V exponent = hn::Sub(shifted, round);
  const V r = hn::NegMulAdd(exponent, hn::Set(d, Constants::kLog2Low),
                            hn::NegMulAdd(exponent, hn::Set(d, Constants::kLog2High), v));
  V sum = hn::Set(d, kSeries<T>[Constants::kTerms]);
#pragma GCC unroll 16
  for (std::size_t n = Constants::kTerms - 1; n >= 2; --n) sum = hn::MulAdd(sum, r, hn::Set(d, kSeries<T>[n]));
  const auto power = hn::ShiftLeft<Constants::kMantissaBits>(hn::BitCast(bits, shifted));
  return {hn::BitCast(d, hn::Add(power, hn::BitCast(bits, hn::Set(d, 1)))), hn::MulAdd(hn::Mul(r, r), sum, r)};
}

// The comparison is false for a NaN, which is therefore kept.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V v, hn::TFromD<D> most) {
  return hn::IfThenElse(hn::Gt(v, hn::Set(d, most)), hn::Set(d, most), v);
}

// Computed from e^-|v|, which cannot overflow: 1 / (1 + e^-v), or e^v / (1 + e^v) for negative v.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V v) {
  const V one = hn::Set(d, 1);
  const auto e = exponential(d, hn::Neg(at_most(d, hn::Abs(v), ExponentialConstants<hn::TFromD<D>>::kLargest)));
  const V power = hn::MulAdd(e.scale, e.rest, e.scale);
  return hn::Div(hn::IfThenElse(hn::Lt(v, hn::Zero(d)), power, one), hn::Add(one, power));
}

// (e^2v - 1) / (e^2v + 1) for |v|, computed from e^2v - 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V v) {
  const V bounded = at_most(d, hn::Abs(v), ExponentialConstants<hn::TFromD<D>>::kTanhIsOne);
  const auto e = exponential(d, hn::Add(bounded, bounded));
  const V power_less_one = hn::MulAdd(e.scale, e.rest, hn::Sub(e.scale, hn::Set(d, 1)));
  return hn::CopySign(hn::Div(power_less_one, hn::Add(power_less_one, hn::Set(d, 2))), v);
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
