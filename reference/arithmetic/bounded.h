// SPDX-License-Identifier: Apache-2.0
// Values with error bounds.
#pragma once

#include "reference/arithmetic/cached.h"
#include "reference/arithmetic/plane.h"

namespace backgauge {

struct DotOperand;

template <class V>
struct Bounded {
  Plane<V> v;
  Plane<double> e;

  // What it is as a factor of a product, where an implementation has more than one way to write that: a difference,
  // with the largest of what the other factors are multiplied by on the way (range.h), or a choice between 0 and them.
  Plane<double> reach{};  // empty: no difference
  bool choice = false;
  Cached<DotOperand> operand{};  // as the right one of a product

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
};

template <class V>
double magnitude(const V& v) {
  return static_cast<double>(v < 0 ? -v : v);
}
template <class V>
Plane<double> magnitude(const Plane<V>& v) {
  return v.abs().template cast<double>();
}
template <class V>
double size_of(const Bounded<V>& x, Index k) {
  return magnitude(x.v.data()[k]) + x.e.data()[k];
}

}  // namespace backgauge
