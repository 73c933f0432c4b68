// SPDX-License-Identifier: Apache-2.0
// The arithmetic of random rounding: plain values, each result of an operation disturbed as a rounding would. Repeated
// runs show how far roundings carry together through shared sub-expressions, which variance.h takes as independent.
// bounds.md 6.
#pragma once

#include <cstdint>

#include "reference/arithmetic/variance.h"

namespace backgauge {

class Noise {
 public:
  using Matrix = Plane<double>;

  // Equal seeds, equal disturbances.
  Noise(const RoundingModel& model, std::uint64_t seed) : model_(model), state_(seed) {}

  Matrix input(const double* values, Index rows, Index cols) const { return exact_.input(values, rows, cols); }
  Matrix recomputable(const double* values, Index rows, Index cols) const {
    return disturbed(input(values, rows, cols), model_.recomputed_co);
  }
  Matrix zeros(Index rows, Index cols) const { return exact_.zeros(rows, cols); }
  Matrix ones(Index rows, Index cols) const { return exact_.ones(rows, cols); }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    return rounded(rounded(exact_.dropout_mask(keep, dropout, rows, cols)));
  }

  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    ((out = rounded(out + rest)), ...);
    return out;
  }
  Matrix sum(const std::vector<Matrix>& terms) const {
    Matrix out = terms.front();
    for (std::size_t k = 1; k < terms.size(); ++k) out = rounded(out + terms[k]);
    return out;
  }
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    ((out = rounded(out * rest)), ...);
    return out;
  }
  Matrix negative(const Matrix& x) const { return -x; }
  Matrix matmul(const Matrix& x, const Matrix& y) const {
    const Matrix value =
        plane_product<double>(disturbed(x, model_.operand_roundoff), disturbed(y, model_.operand_roundoff));
    return with_noise(value, model_.unit_roundoff * dot_roundings(x, y, value).sqrt());
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    return rounded(c + carried(matmul(x, y)));
  }
  Matrix column_sums(const Matrix& x) const {
    const Matrix value = x.colwise().sum();
    const Matrix squares = x.square().colwise().sum();
    const double n = static_cast<double>(std::max<Index>(x.rows() - 1, 0));
    return with_noise(value, model_.unit_roundoff * (n * (squares + value.square())).sqrt());
  }

  Matrix sigmoid(const Matrix& x) const {
    const Matrix s = exact_.sigmoid(x);
    return with_noise(s, model_.activation_relative() * s + model_.sigmoid_absolute());
  }
  Matrix tanh(const Matrix& x) const {
    const Matrix t = exact_.tanh(x);
    return with_noise(t, model_.activation_relative() * t.abs());
  }
  Matrix relu(const Matrix& x) const { return exact_.relu(x); }
  Matrix sigmoid_slope(const Matrix& s) const {
    return with_noise(exact_.sigmoid_slope(s), model_.unit_roundoff * s);  // u (s(1-s) + s^2)
  }
  Matrix tanh_slope(const Matrix& t) const {
    return with_noise(exact_.tanh_slope(t),
                      Matrix::Constant(t.rows(), t.cols(), model_.unit_roundoff));  // u (1-t^2 + t^2)
  }
  Matrix where_positive(const Matrix& h, const Matrix& x) const { return exact_.where_positive(h, x); }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    return sum(product(sum(ones(z.rows(), z.cols()), negative(z)), n), product(z, h));
  }
  Matrix clip(const Matrix& x, double limit) const { return exact_.clip(x, limit); }
  Matrix carried(const Matrix& x) const { return disturbed(x, model_.carry_roundoff); }

  Matrix transpose(const Matrix& x) const { return exact_.transpose(x); }
  Matrix rows(const Matrix& x, Index begin, Index count) const { return exact_.rows(x, begin, count); }
  Matrix columns(const Matrix& x, Index begin, Index count) const { return exact_.columns(x, begin, count); }
  Matrix repeat_row(const Matrix& row, Index count) const { return exact_.repeat_row(row, count); }
  Matrix beside(const std::vector<const Matrix*>& parts) const { return exact_.beside(parts); }
  Matrix below(const std::vector<const Matrix*>& parts) const { return exact_.below(parts); }

 private:
  // Uniform in [-1, 1): splitmix64.
  double draw() const {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
  }
  Matrix with_noise(Matrix value, const Matrix& size) const {
    for (Index k = 0; k < value.size(); ++k) value.data()[k] += draw() * size.data()[k];
    return value;
  }
  Matrix disturbed(Matrix value, double relative) const {
    if (relative == 0) return value;
    for (Index k = 0; k < value.size(); ++k) value.data()[k] *= 1 + relative * draw();
    return value;
  }
  Matrix rounded(Matrix value) const { return disturbed(std::move(value), model_.unit_roundoff); }

  RoundingModel model_;
  mutable std::uint64_t state_;
  static inline const Exact<double> exact_{};
};

}  // namespace backgauge
