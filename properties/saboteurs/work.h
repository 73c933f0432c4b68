// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the ops of this folder use. Every sum, product, slope and index of the equations is identified by
// its Site, so that a variant can change one of them, and is evaluated in the variant's Style.
#pragma once

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "properties/saboteurs/variant.h"
#include "reference/contract/dtypes.h"
#include "reference/contract/narrow.h"

namespace backgauge::saboteurs {

// v rounded to `bits` significant bits, to nearest, ties to even.
template <class Real>
Real to_significant_bits(Real v, int bits) {
  if (!std::isfinite(v) || v == 0) return v;
  int exponent;
  std::frexp(v, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(v, bits - exponent)), exponent - bits);
}

// Real: the type of the computation, float or double.
template <class Real>
class Work {
 public:
  using Index = std::int64_t;

  Work(const Variant& variant, std::int32_t dtype) : variant_(variant), dtype_(dtype), narrow_(is_narrow(dtype)) {}

  Fault fault() const { return variant_.fault; }
  bool is(Fault fault) const { return variant_.fault == fault; }
  const Style& style() const { return variant_.style; }
  bool half() const { return dtype_ == BACKGAUGE_HALF; }
  // Outputs can represent intermediate results exactly, so these may be kept in them.
  bool in_place() const { return style().in_place && !narrow_; }

  // The result of one scalar operation: in class B each rounds to the dtype.
  Real rounded(Real v) const {
    if (narrow_ && style().declared.accuracy_class == BACKGAUGE_CLASS_B) return to_dtype(v);
    return v;
  }

  // A value carried from step to step.
  Real carried(Real v) const {
    if (narrow_ && style().declared.accuracy_class != BACKGAUGE_CLASS_A) return to_dtype(v);
    return is(Fault::kJ3) ? to_half(v) : v;
  }

  static Real to_half(Real v) { return static_cast<Real>(static_cast<double>(narrowed<Half>(static_cast<double>(v)))); }

  // For narrow dtypes.
  Real to_dtype(Real v) const {
    if (dtype_ == BACKGAUGE_HALF) return to_half(v);
    return static_cast<Real>(static_cast<double>(narrowed<Bfloat16>(static_cast<double>(v))));
  }

  Real sum(Site site, std::initializer_list<Real> terms) const { return fold(site, terms, 0, std::plus<Real>()); }
  Real product(Site site, std::initializer_list<Real> factors) const {
    return fold(site, factors, 1, std::multiplies<Real>());
  }

  Real sigmoid_slope(Site site, Real s) const {
    const Real one = changed(site, Change::kConstant) ? 2 : 1;
    const Real square = changed(site, Change::kDrop) ? 1 : s;  // s (1 - 1): s - s
    if (changed(site, Change::kNegate)) return rounded(s * rounded(one + s));
    if (changed(site, Change::kDrop)) return rounded(s * one);
    if (style().sigmoid_slope == SigmoidSlope::kDifference && one == 1) return rounded(s - rounded(s * square));
    return rounded(s * rounded(one - s));
  }

  Real tanh_slope(Site site, Real t) const {
    const Real one = changed(site, Change::kConstant) ? 2 : 1;
    if (changed(site, Change::kDrop)) return one;
    if (changed(site, Change::kNegate)) return rounded(one + rounded(t * t));
    if (changed(site, Change::kTwice)) return rounded(one - rounded(t * rounded(t * t)));
    switch (style().tanh_slope) {
      case TanhSlope::kProduct: return one == 1 ? rounded(rounded(1 - t) * rounded(1 + t)) : rounded(one - t * t);
      case TanhSlope::kFusedMultiplyAdd: return rounded(std::fma(-t, t, one));
      case TanhSlope::kSquare: break;
    }
    return rounded(one - rounded(t * t));
  }

  // An index below n.
  Index index(Site site, Index i, Index n) const {
    if (variant_.site != site) return i;
    if (variant_.change == Change::kUp) return (i + 1) % n;
    if (variant_.change == Change::kDown) return (i + n - 1) % n;
    return i;
  }

  // The terms that a long sum of n terms includes, and its sign.
  struct Terms {
    Index begin, end;
  };
  Terms terms(Site site, Index n) const {
    return {changed(site, Change::kDrop, 0) ? 1 : 0, changed(site, Change::kDrop, 1) ? n - 1 : n};
  }
  Real sign(Site site) const { return changed(site, Change::kNegate) ? -1 : 1; }

  // Sum of a(k) * b(k) for k below n, in the order and with the operands of the style.
  template <class A, class B>
  Real dot(Site site, Index n, A a, B b) const {
    const auto [begin, end] = terms(site, n);
    if (end <= begin) return 0;
    const auto left = [&, first = begin](Index k) { return a(first + k); };
    const auto right = [&, first = begin](Index k) { return b(first + k); };
    if (style().declared.numerical_contract == BACKGAUGE_FP32_3XTF32 && !narrow_)
      return sign(site) * in_parts(end - begin, left, right);
    return sign(site) *
           ordered(
               end - begin, [&](Index k) { return operand(left(k)); }, [&](Index k) { return operand(right(k)); });
  }

  // Sum of a(k) for k below n.
  template <class A>
  Real total(Site site, Index n, A a) const {
    const auto [begin, end] = terms(site, n);
    if (end <= begin) return 0;
    const auto left = [&, first = begin](Index k) { return a(first + k); };
    const auto right = [](Index) { return Real(1); };
    return sign(site) * ordered(end - begin, left, right);
  }

  // The sum of two partial sums.
  Real added(Real a, Real b) const { return is(Fault::kJ7) && narrow_ ? to_dtype(a + b) : rounded(a + b); }

  Real tanh(Real v) const {
    if (style().tanh_by_exp) {
      const Real e = std::exp(-2 * std::fabs(v));
      // Below 1/2, 1 - e would lose digits by cancellation; expm1 does not.
      const Real magnitude = std::fabs(v) < Real(0.5) ? -std::expm1(-2 * std::fabs(v)) / (1 + e) : (1 - e) / (1 + e);
      return rounded(std::copysign(magnitude, v));
    }
    return rounded(std::tanh(v));
  }

  Real sigmoid(Real v) const {
    if (style().sigmoid_by_tanh) return rounded(Real(0.5) * tanh(v / 2) + Real(0.5));
    return rounded(1 / (1 + std::exp(-v)));
  }

 private:
  bool changed(Site site, Change change, int operand = 0) const {
    return site != Site::kNone && variant_.site == site && variant_.change == change && variant_.operand == operand;
  }

  template <class Combine>
  Real fold(Site site, std::initializer_list<Real> list, Real neutral, Combine combine) const {
    Real v[8] = {};
    int n = 0;
    for (const Real each : list) v[n++] = each;
    if (site != Site::kNone && variant_.site == site && variant_.operand < n) {
      Real& chosen = v[variant_.operand];
      switch (variant_.change) {
        case Change::kDrop: chosen = neutral; break;
        case Change::kNegate: chosen = -chosen; break;
        case Change::kTwice: chosen = combine(chosen, chosen); break;
        case Change::kNext: chosen = v[(variant_.operand + 1) % n]; break;
        default: break;
      }
    }
    if (style().factors_from_the_right) {
      Real result = v[n - 1];
      for (int k = n - 2; k >= 0; --k) result = rounded(combine(v[k], result));
      return result;
    }
    Real result = v[0];
    for (int k = 1; k < n; ++k) result = rounded(combine(result, v[k]));
    return result;
  }

  // An operand of a matrix product, rounded as the numerical contract says.
  Real operand(Real v) const {
    if (is(Fault::kJ1) || (style().declared.numerical_contract == BACKGAUGE_BF16_ACC32 && !narrow_))
      return to_significant_bits(v, 8);
    if (is(Fault::kJ2) || (style().declared.numerical_contract == BACKGAUGE_FP32_TF32 && !narrow_))
      return to_significant_bits(v, 11);
    if (style().declared.numerical_contract == BACKGAUGE_FP16_ACC32) return to_half(v);
    return v;
  }

  template <class A, class B>
  Real ordered(Index n, const A& a, const B& b) const {
    if (is(Fault::kJ7) && narrow_) return in_dtype(n, a, b);
    switch (style().order) {
      case SumOrder::kReverse:
        return chain(
            n, [&](Index k) { return a(n - 1 - k); }, [&](Index k) { return b(n - 1 - k); });
      case SumOrder::kShuffled: {
        // Odd multipliers that share no factor with n visit every k once.
        Index stride = n / 2 + 1;
        while (std::gcd(stride, n) != 1) ++stride;
        return chain(
            n, [&](Index k) { return a(k * stride % n); }, [&](Index k) { return b(k * stride % n); });
      }
      case SumOrder::kPairwise: return pairwise(0, n, a, b);
      case SumOrder::kLanes8: return lanes(8, n, a, b);
      case SumOrder::kLanes16: return lanes(16, n, a, b);
      case SumOrder::kKahan: return kahan(n, a, b);
      case SumOrder::kWide: {
        double sum = 0;
        for (Index k = 0; k < n; ++k) sum += static_cast<double>(a(k)) * static_cast<double>(b(k));
        return rounded(static_cast<Real>(sum));
      }
      case SumOrder::kForward: break;
    }
    return chain(n, a, b);
  }

  template <class A, class B>
  Real chain(Index n, const A& a, const B& b) const {
    Real sum = rounded(a(0) * b(0));
    for (Index k = 1; k < n; ++k) {
      sum = style().fma ? rounded(std::fma(a(k), b(k), sum)) : rounded(sum + rounded(a(k) * b(k)));
    }
    return sum;
  }

  template <class A, class B>
  Real pairwise(Index begin, Index end, const A& a, const B& b) const {
    if (end - begin == 1) return rounded(a(begin) * b(begin));
    const Index middle = begin + (end - begin) / 2;
    return rounded(pairwise(begin, middle, a, b) + pairwise(middle, end, a, b));
  }

  template <class A, class B>
  Real lanes(Index width, Index n, const A& a, const B& b) const {
    std::vector<Real> partial(static_cast<std::size_t>(width));
    for (Index k = 0; k < n; ++k) {
      Real& lane = partial[static_cast<std::size_t>(k % width)];
      lane = style().fma ? rounded(std::fma(a(k), b(k), lane)) : rounded(lane + rounded(a(k) * b(k)));
    }
    for (Index half = width / 2; half > 0; half /= 2) {
      for (Index k = 0; k < half; ++k) partial[k] = rounded(partial[k] + partial[k + half]);
    }
    return partial[0];
  }

  template <class A, class B>
  Real kahan(Index n, const A& a, const B& b) const {
    Real sum = 0, lost = 0;
    for (Index k = 0; k < n; ++k) {
      const Real term = a(k) * b(k) - lost, next = sum + term;
      lost = std::isfinite(next) ? (next - sum) - term : 0;
      sum = next;
    }
    return rounded(sum);
  }

  // Each operand is split into two parts of 11 bits; the product of the lower parts is omitted.
  template <class A, class B>
  Real in_parts(Index n, const A& a, const B& b) const {
    const auto upper = [](Real v) { return to_significant_bits(v, 11); };
    const auto lower = [&](Real v) { return to_significant_bits(v - upper(v), 11); };
    const Real small = ordered(
                           n, [&](Index k) { return lower(a(k)); }, [&](Index k) { return upper(b(k)); }) +
                       ordered(
                           n, [&](Index k) { return upper(a(k)); }, [&](Index k) { return lower(b(k)); });
    return small + ordered(
                       n, [&](Index k) { return upper(a(k)); }, [&](Index k) { return upper(b(k)); });
  }

  template <class A, class B>
  Real in_dtype(Index n, const A& a, const B& b) const {
    Real sum = 0;
    for (Index k = 0; k < n; ++k) sum = to_dtype(sum + to_dtype(a(k) * b(k)));
    return sum;
  }

  const Variant& variant_;
  const std::int32_t dtype_;
  const bool narrow_;
};

}  // namespace backgauge::saboteurs
