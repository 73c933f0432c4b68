// SPDX-License-Identifier: Apache-2.0
// The arithmetic of an implementation: float, every result rounded to half where its class says so, and products
// written in one of the forms that the equations leave open. Each is as right as any other.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "reference/arithmetic/exact.h"
#include "reference/oracle.h"

namespace backgauge::testing {

struct Forms {
  // Forms of g (1-t^2): this one, g ((1-t)(1+t)), g - g t t, (g + g t)(1-t).
  enum class Tanh { kSquare, kFactors, kSquareTimesG, kFactorsTimesG } tanh = Tanh::kSquare;
  // Forms of g s(1-s): this one, g (s - s s), g s - g s s, (g - g s) s.
  enum class Sigmoid { kFactors, kSquare, kSquareTimesG, kFactorsTimesG } sigmoid = Sigmoid::kFactors;
  bool differences_times_g = false;  // g x - g y, and n + z (h - n) forwards
  bool choices = false;              // masks and gates of relu choose between 0 and a value instead of multiplying it
  bool backwards = false;            // sums and products from their last term
};
std::vector<Forms> all_forms();

struct WrittenOutMatrix {
  Plane<float> v;
  enum class Factor { kPlain, kTanhSlope, kSigmoidSlope, kDifference, kMask } factor = Factor::kPlain;
  Plane<float> x{}, y{};  // of a difference, or the argument of a slope

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
};

class WrittenOut : public PlaneArithmetic<WrittenOut, WrittenOutMatrix, float> {
 public:
  using Matrix = WrittenOutMatrix;

  WrittenOut(const Forms& forms, backgauge_dtype dtype, backgauge_accuracy_class accuracy_class)
      : forms_(forms),
        dtype_(dtype),
        rounds_(is_narrow(dtype) && accuracy_class == BACKGAUGE_CLASS_B),
        saves_(is_narrow(dtype) && accuracy_class == BACKGAUGE_CLASS_S),
        carries_(saves_ || (is_narrow(dtype) && accuracy_class == BACKGAUGE_CLASS_A_PRIME)) {}

  Matrix recomputable(const double* values, Index rows, Index cols) const { return input(values, rows, cols); }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    return {rounded(exact_.dropout_mask(keep, dropout, rows, cols)), Matrix::Factor::kMask};
  }

  Matrix negative(const Matrix& x) const { return {-x.v}; }
  Matrix difference(const Matrix& x, const Matrix& y) const {
    return {rounded(x.v - y.v), Matrix::Factor::kDifference, x.v, y.v};
  }

  Matrix matmul(const Matrix& x, const Matrix& y) const { return {dot(zeros(x.rows(), y.cols()).v, x.v, y.v)}; }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    return forms_.backwards ? Matrix{dot(c.v, x.v, y.v)} : sum(c, carried(matmul(x, y)));
  }
  Matrix column_sums(const Matrix& x) const {
    const Plane<float> ones = Plane<float>::Ones(1, x.rows());
    return {dot(zeros(1, x.cols()).v, ones, x.v)};
  }

  Matrix sigmoid(const Matrix& x) const { return {rounded(exact_.sigmoid(x.v))}; }
  Matrix tanh(const Matrix& x) const { return {rounded(exact_.tanh(x.v))}; }
  Matrix relu(const Matrix& x) const;
  Matrix sigmoid_slope(const Matrix& s) const;
  Matrix tanh_slope(const Matrix& t) const;
  Matrix where_positive(const Matrix& p, const Matrix& x) const;
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const;
  Matrix clip(const Matrix& x, double limit) const { return {exact_.clip(x.v, limit)}; }
  Matrix carried(const Matrix& x) const { return {carries_ ? to_dtype(x.v) : x.v}; }
  Matrix saved(Matrix x) const { return saves_ ? Matrix{to_dtype(x.v)} : x; }
  bool rounds_saved() const { return saves_; }

 private:
  friend SumsAndProducts<WrittenOut, Matrix>;
  friend PlaneArithmetic<WrittenOut, Matrix, float>;

  static Matrix exactly(Plane<float> values) { return {std::move(values)}; }
  template <class Move>
  static Matrix moved(const Matrix& x, Move move) {
    return {move(x.v)};
  }
  template <Along along>
  static Matrix joined(const std::vector<const Matrix*>& parts) {
    return {join<along>(planes_of(parts, &Matrix::v))};
  }
  Matrix sum_of(std::span<const Matrix* const> terms) const;
  Matrix product_of(std::span<const Matrix* const> factors) const;

  Plane<float> to_dtype(const Plane<float>& x) const;
  Plane<float> rounded(const Plane<float>& x) const { return rounds_ ? to_dtype(x) : x; }
  Plane<float> dot(Plane<float> sum, const Plane<float>& x, const Plane<float>& y) const;
  bool multiplied_out(const Matrix& factor) const;
  Plane<float> multiply_out(const Plane<float>& g, const Matrix& factor) const;

  const Forms forms_;
  const backgauge_dtype dtype_;
  const bool rounds_, saves_, carries_;
  static inline const Exact<float> exact_{};
};
static_assert(Arithmetic<WrittenOut>);

// The outputs in the order of the op's table, as they are stored; rows at the end that are zero by contract are left
// out.
std::vector<std::vector<double>> written_out(const Problem& problem, const Forms& forms,
                                             backgauge_accuracy_class accuracy_class);

}  // namespace backgauge::testing
