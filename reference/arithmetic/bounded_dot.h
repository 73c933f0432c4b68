// SPDX-License-Identifier: Apache-2.0
// Values with error bounds, and their products of matrices: what the error of every element is made of. bounds.md 3.3
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/roundings.h"

namespace backgauge {

template <class V>
struct Bounded {
  Plane<V> v;
  Plane<double> e;

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

// A product of matrices and what its error is made of.
template <class V>
struct BoundedDot {
  Plane<V> value;
  Plane<double> propagated;  // from the errors of the operands
  Plane<double> sizes;       // sum of |terms|, errors included
  Plane<double> terms;       // how many of them are not exactly zero
  Plane<double> underflow;
  double operands;  // relative, from narrower operands

  BoundedDot(const RoundingModel& model, const Bounded<V>& x, const Bounded<V>& y) : value(plane_product<V>(x.v, y.v)) {
    const Plane<double> xv = magnitude(x.v), yv = magnitude(y.v);
    const Plane<double> xs = xv + x.e, ys = yv + y.e;
    propagated = product_of_errors(xv, y.e) + product_of_errors(x.e, ys);
    sizes = plane_product<double>(xs, ys);
    if (zeros_of(xs) == 0 && zeros_of(ys) == 0) {
      terms = Plane<double>::Constant(value.rows(), value.cols(), static_cast<double>(x.cols()));
    } else {
      terms = plane_product<double>((xs != 0).template cast<double>(), (ys != 0).template cast<double>());
    }
    underflow = Plane<double>::Zero(value.rows(), value.cols());
    if (xs.size() > 0 && ys.size() > 0) {
      const Eigen::ArrayXd row = xs.rowwise().maxCoeff();
      Plane<double> column = ys.topRows(1);  // maxima, row by row as they lie in memory
      for (Index n = 1; n < ys.rows(); ++n) column = column.max(ys.row(n));
      for (Index r = 0; r < value.rows(); ++r) {
        for (Index c = 0; c < value.cols(); ++c) {
          underflow(r, c) = 2 * model.products_of_term() * terms(r, c) * model.least_normal * (1 + row(r) + column(c));
        }
      }
    }
    const double u = model.operand_roundoff, eta = model.operand_underflow;
    if (eta > 0) {
      const Plane<double> x_there = (xs != 0).template cast<double>(), y_there = (ys != 0).template cast<double>();
      underflow += eta * (plane_product<double>(xs, y_there) + plane_product<double>(x_there, ys)) + eta * eta * terms;
    }
    operands = 2 * u + u * u + model.left_out();
    if (std::isfinite(model.operand_largest)) open_overflows(model.operand_largest, xs, ys);
  }

 private:
  // An infinite operand makes anything of its row or column, even where the other one is zero.
  void open_overflows(double largest, const Plane<double>& xs, const Plane<double>& ys) {
    std::vector<bool> column_fits(static_cast<std::size_t>(value.cols()));
    for (Index c = 0; c < value.cols(); ++c) {
      column_fits[static_cast<std::size_t>(c)] = (ys.col(c) <= largest).all();
    }
    for (Index r = 0; r < value.rows(); ++r) {
      const bool row_fits = (xs.row(r) <= largest).all();
      for (Index c = 0; c < value.cols(); ++c) {
        if (row_fits && column_fits[static_cast<std::size_t>(c)]) continue;
        underflow(r, c) = std::numeric_limits<double>::infinity();
        terms(r, c) = std::max(terms(r, c), 1.0);
      }
    }
  }
};

}  // namespace backgauge
