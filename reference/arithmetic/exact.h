// SPDX-License-Identifier: Apache-2.0
// The arithmetic of plain values: double, long double, or complex<double> for complex-step derivatives.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/arithmetic/arithmetic.h"

namespace backgauge {

template <class V>
class Exact : public PlaneArithmetic<Exact<V>, Plane<V>, V> {
 public:
  using Matrix = Plane<V>;

  Matrix recomputable(const double* values, Index rows, Index cols) const { return this->input(values, rows, cols); }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix mask = this->zeros(rows, cols);
    for (Index k = 0; k < rows * cols; ++k) {
      if (keep[k] != 0) mask.data()[k] = V(1) / (V(1) - V(dropout));
    }
    return mask;
  }

  Matrix negative(const Matrix& x) const { return -x; }
  Matrix difference(const Matrix& x, const Matrix& y) const { return x - y; }

  Matrix matmul(const Matrix& x, const Matrix& y) const { return plane_product<V>(x, y); }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return c + plane_product<V>(x, y); }
  Matrix column_sums(const Matrix& x) const { return x.colwise().sum(); }

  // The same for rows that are added piece by piece: matmul of all x and y, whose inner dimension has been cut, and
  // column_sums of all x.
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
  Matrix sigmoid_slope(const Matrix& s) const { return s * (V(1) - s); }
  Matrix tanh_slope(const Matrix& t) const { return V(1) - t * t; }
  Matrix where_positive(const Matrix& p, const Matrix& x, bool or_zero = false) const {
    Matrix out = x;
    for (Index k = 0; k < p.size(); ++k) {
      const auto at = std::real(p.data()[k]);
      if (!(at > 0 || (or_zero && at == 0))) out.data()[k] = V(0);
    }
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const { return (V(1) - z) * n + z * h; }
  Matrix clip(const Matrix& x, double limit) const {
    if (!(limit > 0)) return x;
    return x.unaryExpr([limit](const V& a) {
      return std::real(a) > limit ? V(limit) : std::real(a) < -limit ? V(-limit) : a;
    });
  }
  Matrix carried(const Matrix& x) const { return x; }
  Matrix saved(Matrix x) const { return x; }
  bool rounds_saved() const { return false; }

 private:
  friend SumsAndProducts<Exact, Matrix>;
  friend PlaneArithmetic<Exact, Matrix, V>;

  static Matrix exactly(Matrix values) { return values; }
  template <class Move>
  static Matrix moved(const Matrix& x, Move move) {
    return move(x);
  }
  template <Along along>
  static Matrix joined(const std::vector<const Matrix*>& parts) {
    return join<along>(parts);
  }
  static Matrix sum_of(std::span<const Matrix* const> terms) {
    Matrix out = *terms.front();
    for (const Matrix* term : terms.subspan(1)) out += *term;
    return out;
  }
  static Matrix product_of(std::span<const Matrix* const> factors) {
    Matrix out = *factors.front();
    for (const Matrix* factor : factors.subspan(1)) out *= *factor;
    return out;
  }

  // exp of an argument in the left half plane does not overflow, with complex numbers either.
  static V sigmoid_of(const V& a) {
    if (std::real(a) >= 0) return V(1) / (V(1) + std::exp(-a));
    const V e = std::exp(a);
    return e / (V(1) + e);
  }
};
static_assert(Arithmetic<Exact<double>>);

}  // namespace backgauge
