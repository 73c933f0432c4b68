// SPDX-License-Identifier: Apache-2.0
// Values with error bounds.
#pragma once

#include <optional>

#include "reference/arithmetic/cached.h"
#include "reference/arithmetic/exact_terms.h"
#include "reference/arithmetic/plane.h"

namespace backgauge {

struct DotOperand;

template <class V>
struct Bounded {
  Plane<V> v;
  Plane<double> e;

  // For factors of a product that an implementation may write in more than one way: a difference, with the largest
  // number that the other factors are multiplied by in any of its forms (range.h), or a choice between 0 and them.
  Plane<double> reach{};  // empty: not a difference
  bool choice = false;
  // Of a sum that is exact in every order, although e covers roundings.
  std::optional<ExactTerms> terms{};
  Cached<DotOperand> operand{};  // as the right factor of a product of matrices

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
};

// nullopt: not every order gives exactly v.
template <class V>
std::optional<ExactTerms> terms_of(const Bounded<V>& x) {
  return x.terms ? x.terms : all_zero(x.e) ? terms_of_values(x.v) : std::nullopt;
}

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
