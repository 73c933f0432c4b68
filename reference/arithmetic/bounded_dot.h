// SPDX-License-Identifier: Apache-2.0
// Products of matrices of values with error bounds: what the error of every element is made of. bounds.md 3.3
#pragma once

#include "reference/arithmetic/bounded.h"
#include "reference/arithmetic/roundings.h"

namespace backgauge {

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
  }
};

}  // namespace backgauge
