// SPDX-License-Identifier: Apache-2.0
// Elements that are not finite, or may not be: bounds.md 3.10 and 3.11. What v and e say of an element:
//
//   v          e
//   finite     finite   no implementation is further than e from v
//   infinite   0        it is this infinity
//   NaN        0        it is a NaN
//   any        inf      it may be anything, also a NaN
#pragma once

#include <cmath>

#include "reference/arithmetic/bounded.h"
#include "reference/arithmetic/roundings.h"

namespace backgauge {

template <class V>
bool is_finite(const V& v) {
  return std::isfinite(static_cast<double>(v));
}
template <class V>
bool is_infinite(const Bounded<V>& x, Index k) {
  return std::isinf(static_cast<double>(x.v.data()[k]));
}

// Values that are not finite, among those that an element is computed from.
struct NonFinite {
  bool nan = false;   // a NaN: the result is one in every order
  bool open = false;  // a value that may be anything

  NonFinite joined(const NonFinite& other) const { return {nan || other.nan, open || other.open}; }
};

template <class V>
NonFinite nonfinite_of(const Bounded<V>& x, Index k) {
  const bool open = std::isinf(x.e.data()[k]);
  return {!open && std::isnan(static_cast<double>(x.v.data()[k])), open};
}

// An infinity times a number that may be 0 or of either sign may be anything; times exactly 0 it is always a NaN.
template <class V>
bool may_vanish(const RoundingModel& model, const Bounded<V>& x, Index k) {
  if (!is_finite(x.v.data()[k])) return false;
  const double v = magnitude(x.v.data()[k]), e = x.e.data()[k];
  return v + e > 0 && v <= e + model.least_normal;
}

}  // namespace backgauge
