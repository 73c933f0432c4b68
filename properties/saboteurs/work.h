// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the ops of this folder use. Every sum, product, slope and index of the equations is identified by
// its Site, so that a variant can change one of them, and is evaluated in the variant's Style.
#pragma once

#include <algorithm>
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

  // A value that one pass or layer hands to the next.
  Real saved(Real v) const {
    const bool rounds = style().declared.accuracy_class == BACKGAUGE_CLASS_S || is(Fault::kJ17);
    return narrow_ && rounds ? to_dtype(v) : v;
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
    if (const Parts parts = parts_of_operands(); parts.count > 1 && !narrow_)
      return sign(site) * in_parts(parts, end - begin, left, right);
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
  Real added(Real a, Real b) const { return sums_in_dtype() ? to_dtype(a + b) : rounded(a + b); }

  Real tanh(Real v) const {
    return approximate(accurate_tanh(v), v, style().declared.tanh_absolute, style().declared.tanh_ulps);
  }
  Real sigmoid(Real v) const {
    return approximate(accurate_sigmoid(v), v, style().declared.sigmoid_absolute, style().declared.sigmoid_ulps);
  }

 private:
  bool sums_in_dtype() const { return narrow_ && (is(Fault::kJ7) || is(Fault::kJ14)); }

  // y with an error that depends on v alone, nearly as large as is claimed, and of one sign: away from 0.
  Real approximate(Real y, Real v, double absolute, double ulps) const {
    if ((absolute == 0 && ulps == 0) || !std::isfinite(v)) return y;
    const double unit = is(Fault::kJ15) ? 8 : 0.9, wave = std::sin(3 * static_cast<double>(v));
    const double most = absolute + ulps * std::numeric_limits<Real>::epsilon() * std::fabs(static_cast<double>(y));
    return y + static_cast<Real>(std::copysign(unit * most * wave * wave, static_cast<double>(y)));
  }

  Real accurate_tanh(Real v) const {
    if (style().tanh_by_exp) {
      const Real e = std::exp(-2 * std::fabs(v));
      // Below 1/2, 1 - e would lose digits by cancellation; expm1 does not.
      const Real magnitude = std::fabs(v) < Real(0.5) ? -std::expm1(-2 * std::fabs(v)) / (1 + e) : (1 - e) / (1 + e);
      return rounded(std::copysign(magnitude, v));
    }
    return rounded(std::tanh(v));
  }

  Real accurate_sigmoid(Real v) const {
    if (style().sigmoid_by_tanh) return rounded(Real(0.5) * accurate_tanh(v / 2) + Real(0.5));
    return rounded(1 / (1 + std::exp(-v)));
  }

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
    if (sums_in_dtype()) return in_dtype(n, a, b);
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

  // How operands are split: in parts of so many bits, of which the products are computed whose numbers, from 0, add up
  // to `last` at most.
  struct Parts {
    int count = 1, bits = 0, last = 0;
  };
  Parts parts_of_operands() const {
    if (is(Fault::kJ16)) return {3, 8, 1};
    switch (style().declared.numerical_contract) {
      case BACKGAUGE_FP32_3XTF32: return {2, 11, 1};
      case BACKGAUGE_FP32_3XBF16: return {2, 8, 1};
      case BACKGAUGE_FP32_6XBF16: return {3, 8, 2};
      case BACKGAUGE_FP32_9XBF16: return {3, 8, 4};
      default: return {};
    }
  }

  // The products of the lowest parts are added first.
  template <class A, class B>
  Real in_parts(const Parts& parts, Index n, const A& a, const B& b) const {
    const auto part = [&](Real v, int number) {
      for (; number > 0; --number) v -= to_significant_bits(v, parts.bits);
      return to_significant_bits(v, parts.bits);
    };
    Real sum = 0;
    for (int both = parts.last; both >= 0; --both) {
      for (int first = std::max(0, both - parts.count + 1); first <= std::min(both, parts.count - 1); ++first) {
        sum += ordered(
            n, [&](Index k) { return part(a(k), first); }, [&](Index k) { return part(b(k), both - first); });
      }
    }
    return sum;
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
