// SPDX-License-Identifier: Apache-2.0
// What becomes of elements that are not finite, or may not be: bounds.md 3.10 and 3.11. Of every element it is known
//
//   v          e
//   finite     finite   how far an implementation may be from it
//   infinite   0        that it is this infinity
//   NaN        0        that it is a NaN
//   any        inf      nothing: it may be anything, a NaN too
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

// What went into an element.
struct NonFinite {
  bool nan = false;   // a NaN, which comes out in every order
  bool open = false;  // something that may be anything

  NonFinite joined(const NonFinite& other) const { return {nan || other.nan, open || other.open}; }
};

template <class V>
NonFinite nonfinite_of(const Bounded<V>& x, Index k) {
  const bool open = std::isinf(x.e.data()[k]);
  return {!open && std::isnan(static_cast<double>(x.v.data()[k])), open};
}

// An infinity that meets what may be 0 or of either sign is anything; what is exactly 0 makes a NaN in every order.
template <class V>
bool may_vanish(const RoundingModel& model, const Bounded<V>& x, Index k) {
  if (!is_finite(x.v.data()[k])) return false;
  const double v = magnitude(x.v.data()[k]), e = x.e.data()[k];
  return v + e > 0 && v <= e + model.least_normal;
}

}  // namespace backgauge
