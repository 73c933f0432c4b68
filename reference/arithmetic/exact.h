// SPDX-License-Identifier: Apache-2.0
// The arithmetic of plain values: double, long double, or complex<double> for complex-step derivatives.
//
// An arithmetic is an object with a Matrix type and the operations below; the equations are written over it, once.
// Every operation is one step of the derivation, whatever order an implementation gives it inside: `sum` and `product`
// of many terms, `matmul` a sum of products, `sigmoid_slope` any form of s(1-s). bound.h says how far any order can be
// off. All matrices are dense; elementwise operations take equal shapes.
#pragma once

#ifdef __FAST_MATH__
#error "the reference needs IEEE arithmetic: build it without -ffast-math"
#endif

#include <Eigen/Core>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "reference/arithmetic/dense_product.h"

namespace backgauge {

using Index = Eigen::Index;
template <class V>
using Plane = Eigen::Array<V, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class V>
Plane<V> plane_product(const Plane<V>& x, const Plane<V>& y) {
  if constexpr (std::is_same_v<V, double>) {
    Plane<double> out(x.rows(), y.cols());
    dense_product(Product<double>{x.data(), y.data(), out.data(), x.rows(), x.cols(), y.cols()});
    return out;
  } else {
    if (x.cols() == 0) return Plane<V>::Zero(x.rows(), y.cols());
    return (x.matrix() * y.matrix()).array();
  }
}

// sum += x y; an empty sum is 0.
template <class V>
void add_product(Plane<V>& sum, const Plane<V>& x, const Plane<V>& y) {
  if (sum.size() == 0) {
    sum = plane_product<V>(x, y);
  } else if constexpr (std::is_same_v<V, double>) {
    dense_product(Product<double>{x.data(), y.data(), sum.data(), x.rows(), x.cols(), y.cols(), false, true});
  } else if (x.cols() > 0) {
    sum.matrix() += x.matrix() * y.matrix();
  }
}

// A loop without an early end, which compilers make vectors of.
inline Index zeros_of(const Plane<double>& x) {
  Index count = 0;
  for (Index k = 0; k < x.size(); ++k) count += x.data()[k] == 0 ? 1 : 0;
  return count;
}

inline bool all_zero(const Plane<double>& x) { return zeros_of(x) == x.size(); }

// Moving elements about is the same in every arithmetic.
template <class V>
Plane<V> stack_columns(const std::vector<const Plane<V>*>& parts, Index rows) {
  Index cols = 0;
  for (const Plane<V>* part : parts) cols += part->cols();
  Plane<V> out(rows, cols);
  Index at = 0;
  for (const Plane<V>* part : parts) {
    out.middleCols(at, part->cols()) = *part;
    at += part->cols();
  }
  return out;
}

template <class V>
Plane<V> stack_rows(const std::vector<const Plane<V>*>& parts, Index cols) {
  Index rows = 0;
  for (const Plane<V>* part : parts) rows += part->rows();
  Plane<V> out(rows, cols);
  Index at = 0;
  for (const Plane<V>* part : parts) {
    out.middleRows(at, part->rows()) = *part;
    at += part->rows();
  }
  return out;
}

// One plane of each of several matrices made of planes.
template <class V, class M>
std::vector<const Plane<V>*> planes_of(const std::vector<const M*>& parts, Plane<V> M::*plane) {
  std::vector<const Plane<V>*> out;
  for (const M* part : parts) out.push_back(&(part->*plane));
  return out;
}

template <class V>
class Exact {
 public:
  using Matrix = Plane<V>;

  // Values as they stand in a tensor, [rows, cols].
  Matrix input(const double* values, Index rows, Index cols) const {
    return Eigen::Map<const Plane<double>>(values, rows, cols).template cast<V>();
  }
  // A saved activation that an implementation may recompute (bound.h); here its stored value.
  Matrix recomputable(const double* values, Index rows, Index cols) const { return input(values, rows, cols); }
  Matrix zeros(Index rows, Index cols) const { return Matrix::Zero(rows, cols); }
  Matrix ones(Index rows, Index cols) const { return Matrix::Ones(rows, cols); }
  // keep[rows * cols] as 0 or 1/(1-dropout): a factor, or a choice between 0 and the other factors.
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix mask = zeros(rows, cols);
    for (Index k = 0; k < rows * cols; ++k) {
      if (keep[k] != 0) mask.data()[k] = V(1) / (V(1) - V(dropout));
    }
    return mask;
  }

  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    ((out += rest), ...);
    return out;
  }
  Matrix sum(const std::vector<Matrix>& terms) const {
    Matrix out = terms.front();
    for (std::size_t k = 1; k < terms.size(); ++k) out += terms[k];
    return out;
  }
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    ((out *= rest), ...);
    return out;
  }
  Matrix negative(const Matrix& x) const { return -x; }
  // x - y as a factor of a product g (x - y), which an implementation may write as g x - g y.
  Matrix difference(const Matrix& x, const Matrix& y) const { return x - y; }

  // [m, n] x [n, p]
  Matrix matmul(const Matrix& x, const Matrix& y) const { return plane_product<V>(x, y); }
  // c + x y, where x y may pass from step to step through storage.
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return c + plane_product<V>(x, y); }
  // [n, p] -> [1, p]
  Matrix column_sums(const Matrix& x) const { return x.colwise().sum(); }

  // The same of rows that come one after the other: matmul of all x and y, whose inner dimension has been cut into
  // pieces, and column_sums of all x.
  struct Dot {
    Matrix value;
    void add(const Matrix& x, const Matrix& y) { add_product(value, x, y); }
  };
  struct RowSum {
    Matrix value;
    void add(const Matrix& x) {
      if (value.size() == 0) value = Matrix::Zero(1, x.cols());
      value += x.colwise().sum();
    }
  };
  Dot new_dot() const { return {}; }
  RowSum new_row_sum() const { return {}; }
  Matrix total_of(Dot dot) const { return std::move(dot.value); }
  Matrix total_of(const RowSum& sum) const { return sum.value; }

  Matrix sigmoid(const Matrix& x) const {
    return x.unaryExpr([](const V& a) { return sigmoid_of(a); });
  }
  Matrix tanh(const Matrix& x) const {
    return x.unaryExpr([](const V& a) { return std::tanh(a); });
  }
  Matrix relu(const Matrix& x) const {
    return x.unaryExpr([](const V& a) { return std::real(a) > 0 ? a : V(0); });
  }
  // Differences like the one above, g s - g s s and (g + g t)(1-t).
  Matrix sigmoid_slope(const Matrix& s) const { return s * (V(1) - s); }  // s(1-s)
  Matrix tanh_slope(const Matrix& t) const { return V(1) - t * t; }       // 1-t^2
  // x where h > 0, 0 elsewhere: the derivative of relu at 0 is 0.
  Matrix where_positive(const Matrix& h, const Matrix& x) const {
    Matrix out = x;
    for (Index k = 0; k < h.size(); ++k) {
      if (!(std::real(h.data()[k]) > 0)) out.data()[k] = V(0);
    }
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {  // (1-z) n + z h
    return (V(1) - z) * n + z * h;
  }
  Matrix clip(const Matrix& x, double limit) const {  // to [-limit, limit]; none if limit <= 0
    if (!(limit > 0)) return x;
    return x.unaryExpr([limit](const V& a) {
      return std::real(a) > limit ? V(limit) : std::real(a) < -limit ? V(-limit) : a;
    });
  }
  Matrix carried(const Matrix& x) const { return x; }  // from one step to the next

  Matrix transpose(const Matrix& x) const { return x.transpose(); }
  Matrix rows(const Matrix& x, Index begin, Index count) const { return x.middleRows(begin, count); }
  Matrix columns(const Matrix& x, Index begin, Index count) const { return x.middleCols(begin, count); }
  Matrix repeat_row(const Matrix& row, Index count) const { return row.replicate(count, 1); }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    return stack_columns<V>(parts, parts.front()->rows());
  }
  Matrix below(const std::vector<const Matrix*>& parts) const { return stack_rows<V>(parts, parts.front()->cols()); }

 private:
  // Without overflow on either side; the complex form keeps exp's argument in the left half plane too.
  static V sigmoid_of(const V& a) {
    if (std::real(a) >= 0) return V(1) / (V(1) + std::exp(-a));
    const V e = std::exp(a);
    return e / (V(1) + e);
  }
};

}  // namespace backgauge
