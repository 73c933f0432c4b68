// SPDX-License-Identifier: Apache-2.0
// What becomes of elements that are not finite, or may not be: bounds.md 3.10 and 3.11. Of every element it is known
//
//   v          e
//   finite     finite   how far an implementation may be from it
//   infinite   0        that it is this infinity
//   NaN        0        that it is a NaN
//   any        inf      nothing: it may be anything, a NaN too
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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
struct Fate {
  bool nan = false;   // a NaN, which comes out in every order
  bool open = false;  // something that may be anything

  Fate joined(const Fate& other) const { return {nan || other.nan, open || other.open}; }
};

template <class V>
Fate fate_of(const Bounded<V>& x, Index k) {
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

// Of the elements of a product of matrices.
template <class V>
class DotFates {
 public:
  DotFates(const RoundingModel& model, const Bounded<V>& x, const Bounded<V>& y)
      : model_(model), x_(x), y_(y), rows_(lines(x, x.rows(), true)), columns_(lines(y, y.cols(), false)) {}

  // met: the sum of the sizes of the terms; on output that of those that are finite.
  Fate of(Index row, Index column, double& met) const {
    const Line &left = rows_[static_cast<std::size_t>(row)], &right = columns_[static_cast<std::size_t>(column)];
    Fate fate = left.fate.joined(right.fate);
    if (fate.nan || fate.open || !(left.infinite || right.infinite)) return fate;
    met = 0;
    for (Index n = 0; n < x_.cols(); ++n) {
      const Index k = row * x_.cols() + n, m = n * y_.cols() + column;
      if (is_infinite(x_, k) || is_infinite(y_, m)) {
        fate.open = fate.open || may_vanish(model_, x_, k) || may_vanish(model_, y_, m);
      } else {
        met += (magnitude(x_.v.data()[k]) + x_.e.data()[k]) * (magnitude(y_.v.data()[m]) + y_.e.data()[m]);
      }
    }
    return fate;
  }

 private:
  struct Line {
    Fate fate;
    bool infinite = false;
  };
  std::vector<Line> lines(const Bounded<V>& operand, Index count, bool rows) const {
    std::vector<Line> out(static_cast<std::size_t>(count));
    for (Index r = 0; r < operand.rows(); ++r) {
      for (Index c = 0; c < operand.cols(); ++c) {
        const Index k = r * operand.cols() + c;
        const double size = magnitude(operand.v.data()[k]) + operand.e.data()[k];
        if (size <= model_.operand_largest && size <= std::numeric_limits<double>::max()) continue;
        Line& line = out[static_cast<std::size_t>(rows ? r : c)];
        line.fate = line.fate.joined(fate_of(operand, k));
        if (is_infinite(operand, k)) {
          line.infinite = true;
          // The lower part of an infinite operand is a NaN, or that of the other one is 0.
          line.fate.open = line.fate.open || model_.part_roundoff > 0;
        } else if (is_finite(operand.v.data()[k])) {
          line.fate.open = true;  // an operand that has become infinite
        }
      }
    }
    return out;
  }

  const RoundingModel& model_;
  const Bounded<V>&x_, &y_;
  const std::vector<Line> rows_, columns_;
};

}  // namespace backgauge
