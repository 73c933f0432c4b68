// SPDX-License-Identifier: Apache-2.0
// The arithmetic of values and the variances of their errors: roundings taken as independent, bounded and of mean zero,
// propagated to first order. One of the two statistical counterparts of bound.h; the other is noise.h. bounds.md 6. An
// element whose variance is infinite may be anything: a number in its computation may overflow within 8 deviations.
// bounds.md 3.11
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "reference/arithmetic/cached.h"
#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/range.h"
#include "reference/arithmetic/roundings.h"
#include "reference/arithmetic/scaled_plane.h"

namespace backgauge {

struct WithVariance {
  Plane<double> v;
  Plane<double> q;  // variance
  // For a factor that is a difference: the largest number that the other factors are multiplied by in any of its forms
  // (range.h), over all elements. 0: it is not a difference.
  double reach = 0;
  std::size_t dot = 0;              // the number of the product of matrices that it is, from 1; 0: it is not one
  Cached<Plane<double>> squares{};  // of v

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
};

// Variance of the roundings of a sum of m terms. squares: the sum of the squares of the terms.
inline Plane<double> sum_variance(const RoundingModel& model, double m, const Plane<double>& squares,
                                  const Plane<double>& value) {
  const double u = model.unit_roundoff, eta = model.least_normal;
  return std::max(m - 1, 0.0) * (u * u * (squares + value.square()) + eta * eta);
}

// An undisturbed product of matrices, and the deviation of its own roundings.
struct UndisturbedDot {
  SharedPlane value;      // nullptr for an output, from which nothing else is computed
  ScaledPlane deviation;  // scaled by a power of two
};

// The sums of such a product: n products and n sums, each of which rounds by at most u times a term or the sum. The
// square of the sum is needed for terms of one sign.
struct UndisturbedSums {
  Plane<double> value, squares;
  double terms = 0;

  void add(const Plane<double>& x, const Plane<double>& y, const Plane<double>& x_squares,
           const Plane<double>& y_squares) {
    terms += static_cast<double>(x.cols());
    add_product(value, x, y);
    add_product(squares, x_squares, y_squares);
  }
  void add(const Plane<double>& x, const Plane<double>& y) { add(x, y, x.square(), y.square()); }
  Plane<double> variance(const RoundingModel& model) const {
    const double n = model.parts.products * terms;
    const double u = model.unit_roundoff, eta = model.least_normal, left_out = model.parts.left_out;
    Plane<double> out = u * u * (n + 1) * (squares + value.square()) + 2 * n * eta * eta;
    if (left_out > 0) out += left_out * left_out * squares;
    return out;
  }
  UndisturbedDot dot(const RoundingModel& model) const {
    return {shared(value), ScaledPlane(Plane<double>(variance(model).sqrt()))};
  }
};

class Variance : public PlaneArithmetic<Variance, WithVariance> {
 public:
  using Matrix = WithVariance;

  // dots: receives every product of matrices, in the order in which the equations compute them; or nullptr.
  explicit Variance(const RoundingModel& model, std::vector<UndisturbedDot>* dots = nullptr)
      : model_(model),
        uu_(model.unit_roundoff * model.unit_roundoff),
        underflow_(model.least_normal * model.least_normal),
        dots_(dots) {}

  Matrix recomputable(const double* values, Index rows, Index cols) const {
    Matrix out = input(values, rows, cols);
    if (model_.recomputed_co == 0) return out;
    out.q = (model_.recomputed_co * out.v).square() + square_of(model_.tanh_error, out.v);
    return out;
  }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix out = exactly(exact_.dropout_mask(keep, dropout, rows, cols));
    out.q = 2 * uu_ * out.v.square();
    return out;
  }

  Matrix negative(const Matrix& x) const { return {-x.v, x.q}; }
  Matrix difference(const Matrix& x, const Matrix& y) const {
    Matrix out = sum(x, negative(y));
    out.reach = reach_of_difference(size_of(x), size_of(y), size_of(out));
    return out;
  }

  // Rows that come one after the other, as in exact.h.
  class Dot {
   public:
    // negligible: sums of sizes of terms are not computed while they are below it, bounds.md 3.11.
    Dot(const RoundingModel& model, double negligible) : model_(model), negligible_(negligible) {}

    void add(const Matrix& x, const Matrix& y) {
      const Plane<double> x_squares = x.v.square();
      const Plane<double>& y_squares = y.squares.get([&] { return Plane<double>(y.v.square()); });
      undisturbed_.add(x.v, y.v, x_squares, y_squares);
      const bool x_is_exact = all_zero(x.q), y_is_exact = all_zero(y.q);
      if (!y_is_exact) add_product(propagated_, x_squares, y.q);
      if (!x_is_exact) add_product(propagated_, x.q, y_is_exact ? y_squares : Plane<double>(y_squares + y.q));
      if (model_.operand_underflow > 0) {
        add_product<double>(underflow_, x_squares, Plane<double>::Ones(y.rows(), y.cols()));
        add_product<double>(underflow_, Plane<double>::Ones(x.rows(), x.cols()), y_squares);
      }
      add_sizes(x, y);
    }

   private:
    friend Variance;

    void add_sizes(const Matrix& x, const Matrix& y) {
      x_size_ = larger(x_size_, size_of(x));
      y_size_ = larger(y_size_, size_of(y));
      const double most = undisturbed_.terms * x_size_ * y_size_;
      if (most <= negligible_ && larger(x_size_, y_size_) <= model_.operand_largest) return;
      const auto operand = [&](const Matrix& z) {
        const Plane<double> sizes = sizes_of(z);
        return Plane<double>((sizes <= model_.operand_largest).select(sizes, kOpen));
      };
      add_product(met_, operand(x), operand(y));
    }
    static double larger(double x, double y) { return std::isnan(y) || y > x ? y : x; }

    RoundingModel model_;
    double negligible_;
    UndisturbedSums undisturbed_;
    Plane<double> propagated_, underflow_;  // empty: 0
    Plane<double> met_;                     // sums of sizes; empty: negligible
    double x_size_ = 0, y_size_ = 0;
  };
  class RowSum {
   public:
    void add(const Matrix& x) {
      if (rows_ == 0) value_ = squares_ = propagated_ = met_ = Plane<double>::Zero(1, x.cols());
      rows_ += static_cast<double>(x.rows());
      value_ += x.v.colwise().sum();
      squares_ += x.v.square().colwise().sum();
      propagated_ += x.q.colwise().sum();
      met_ += sizes_of(x).colwise().sum();
    }

   private:
    friend Variance;
    Plane<double> value_, squares_, propagated_, met_;
    double rows_ = 0;
  };
  // The terms added before sums of sizes are first computed come to less than 2^-20 of the largest number.
  Dot new_dot() const { return {model_, 0x1p-20 * model_.largest}; }
  RowSum new_row_sum() const { return {}; }
  Matrix total_of(Dot dot) const { return take_total(dot); }
  Matrix total_of(const RowSum& sum) const {
    Matrix out{sum.value_, sum.propagated_ + sum_variance(model_, sum.rows_, sum.squares_, sum.value_)};
    return opened(std::move(out), sum.met_, model_.largest);
  }

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    Dot dot(model_, model_.largest);
    dot.add(x, y);
    return take_total(dot);
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    Dot dot(model_, model_.largest - size_of(c));
    dot.add(x, y);
    const Matrix product = carried(take_total(dot));
    const double n = model_.parts.products * static_cast<double>(x.cols());
    Matrix out{c.v + product.v, c.q + product.q + uu_ * (n + 1) * (c.v.square() + (c.v + product.v).square())};
    if (dot.met_.size() == 0) return out;
    return opened(std::move(out), dot.met_ + sizes_of(c), model_.largest);
  }
  Matrix column_sums(const Matrix& x) const {
    RowSum sum;
    sum.add(x);
    return total_of(sum);
  }

  Matrix sigmoid(const Matrix& x) const {
    Matrix out = exactly(exact_.sigmoid(x.v));
    const Plane<double> slope = (out.v * (1 - out.v) + 0.097 * x.q.sqrt()).min(0.25);
    const double relative = 4 * model_.unit_roundoff, absolute = 2 * model_.unit_roundoff;
    out.q = slope.square() * x.q + (relative * out.v / 2).square() + absolute * absolute / 4 + underflow_ +
            square_of(model_.sigmoid_error, out.v);
    return out;
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out = exactly(exact_.tanh(x.v));
    const Plane<double> slope = (1 - out.v.square() + 0.77 * x.q.sqrt()).min(1.0);
    out.q = slope.square() * x.q + (4 * model_.unit_roundoff * out.v / 2).square() + underflow_ +
            square_of(model_.tanh_error, out.v);
    return out;
  }
  Matrix relu(const Matrix& x) const { return {exact_.relu(x.v), x.q}; }
  Matrix sigmoid_slope(const Matrix& s) const {
    const Plane<double> v = exact_.sigmoid_slope(s.v);
    Matrix out{v, (1 - 2 * s.v).square() * s.q + uu_ * (v.square() + s.v.square().square()) + underflow_};
    out.reach = reach_of_sigmoid_slope(size_of(s), 0);
    return out.reach <= model_.largest ? out : opened(std::move(out), sizes_of(s).square(), model_.largest);
  }
  Matrix tanh_slope(const Matrix& t) const {
    const Plane<double> v = exact_.tanh_slope(t.v);
    Matrix out{v, 4 * t.v.square() * t.q + uu_ * (v.square() + t.v.square().square()) + underflow_};
    out.reach = reach_of_tanh_slope(size_of(t), 0);
    return out.reach <= model_.largest ? out : opened(std::move(out), sizes_of(t).square(), model_.largest);
  }
  // Where p is within 8 deviations of 0, either side is correct: the deviation covers both.
  Matrix where_positive(const Matrix& p, const Matrix& x) const {
    Matrix out{exact_.where_positive(p.v, x.v, model_.relu_passes(0)), x.q};
    for (Index k = 0; k < out.size(); ++k) {
      const double value = p.v.data()[k], q = p.q.data()[k];
      const bool closed = !(value > kDeviations * std::sqrt(q));
      if (closed && !(std::isfinite(q) && std::isfinite(x.q.data()[k]))) {  // 0 times what may be infinite
        out.q.data()[k] = kOpen;
        continue;
      }
      const bool uncertain = q > 0 && value * value <= 64 * q;
      if (uncertain) {
        out.q.data()[k] += x.v.data()[k] * x.v.data()[k];
      } else if (!model_.relu_passes(value)) {
        out.q.data()[k] = 0;
      }
    }
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    Matrix out = exactly(exact_.blend(z.v, h.v, n.v));
    out.q = (h.v - n.v).square() * z.q + z.v.square() * h.q + (1 - z.v).square() * n.q +
            4 * uu_ * ((1 - z.v).square() * n.v.square() + z.v.square() * (h.v.square() + n.v.square())) +
            4 * underflow_;
    const double states = size_of(h) + size_of(n);
    if ((1 + 2 * size_of(z)) * states <= model_.largest) return out;
    return opened(std::move(out), (1 + 2 * sizes_of(z)) * (sizes_of(h) + sizes_of(n)), model_.largest);
  }
  Matrix clip(const Matrix& x, double limit) const { return {exact_.clip(x.v, limit), x.q}; }
  Matrix carried(const Matrix& x) const {
    Matrix out{x.v, x.q + model_.carry_roundoff * model_.carry_roundoff * x.v.square() +
                        model_.carry_underflow * model_.carry_underflow};
    if (size_of(out) <= model_.carry_largest) return out;
    const Plane<double> sizes = sizes_of(out);
    return opened(std::move(out), sizes, model_.carry_largest);
  }
  Matrix saved(Matrix x) const { return model_.rounds_saved ? carried(x) : x; }
  bool rounds_saved() const { return model_.rounds_saved; }

  // Noise does not need the value of an output.
  Matrix output(Matrix x) const {
    if (dots_ != nullptr && x.dot > 0) dots_->at(x.dot - 1).value = nullptr;
    return x;
  }

 private:
  friend SumsAndProducts<Variance, Matrix>;
  friend PlaneArithmetic<Variance, Matrix>;

  // Of an activation: a declared error is taken as large as it may be, of either sign.
  static Plane<double> square_of(const ActivationError& error, const Plane<double>& y) {
    return (y == 0).select(0.0, error.absolute + error.relative * y.abs()).square();
  }
  static Matrix exactly(Plane<double> v) {
    Plane<double> q = Plane<double>::Zero(v.rows(), v.cols());
    return {std::move(v), std::move(q)};
  }
  template <class Move>
  static Matrix moved(const Matrix& x, Move move) {
    return {move(x.v), move(x.q)};
  }
  template <Along along>
  static Matrix joined(const std::vector<const Matrix*>& parts) {
    return {join<along>(planes_of(parts, &Matrix::v)), join<along>(planes_of(parts, &Matrix::q))};
  }
  Matrix sum_of(std::span<const Matrix* const> parts) const {
    Matrix out{parts.front()->v, parts.front()->q};
    Plane<double> squares = out.v.square();
    for (const Matrix* part : parts.subspan(1)) {
      out.v += part->v;
      out.q += part->q;
      squares += part->v.square();
    }
    out.q += sum_variance(model_, static_cast<double>(parts.size()), squares, out.v);
    double together = 0;
    for (const Matrix* part : parts) together += size_of(*part);
    if (together <= model_.largest) return out;
    Plane<double> met = Plane<double>::Zero(out.rows(), out.cols());
    for (const Matrix* part : parts) met += sizes_of(*part);
    return opened(std::move(out), met, model_.largest);
  }
  Matrix product_of(std::span<const Matrix* const> factors) const {
    Matrix out{factors.front()->v, factors.front()->q};
    for (const Matrix* factor : factors.subspan(1)) {
      out = {out.v * factor->v, out.v.square() * factor->q + factor->v.square() * out.q + out.q * factor->q +
                                    uu_ * (out.v * factor->v).square() + underflow_};
    }
    return open_products(std::move(out), factors);
  }

  // bounds.md 3.11; a size is |v| and 8 deviations. Computed first for a whole matrix, which is nearly always enough.
  static constexpr double kOpen = std::numeric_limits<double>::infinity();
  static double size_of(const Matrix& x) {
    if (x.size() == 0) return 0;
    return x.v.abs().maxCoeff<Eigen::PropagateNaN>() + kDeviations * std::sqrt(x.q.maxCoeff<Eigen::PropagateNaN>());
  }
  static Plane<double> sizes_of(const Matrix& x) { return x.v.abs() + kDeviations * x.q.sqrt(); }
  static Matrix opened(Matrix out, const Plane<double>& met, double largest) {
    for (Index k = 0; k < out.size(); ++k) {
      if (!(met.data()[k] <= largest)) out.q.data()[k] = kOpen;
    }
    return out;
  }
  Matrix open_products(Matrix out, std::span<const Matrix* const> factors) const {
    const auto reach = [](const Matrix& x) {
      const double most = x.reach > 0 ? x.reach : size_of(x);
      return most <= 1 ? 1 : most;
    };
    double together = 1;
    for (const Matrix* factor : factors) together *= reach(*factor);
    if (together <= model_.largest) return out;
    Plane<double> met = Plane<double>::Ones(out.rows(), out.cols());
    for (const Matrix* factor : factors) {
      const Plane<double> sizes = sizes_of(*factor);
      const double most = std::max(1.0, factor->reach);
      met *= (sizes <= most).select(Plane<double>::Constant(out.rows(), out.cols(), most), sizes);
    }
    return opened(std::move(out), met, model_.largest);
  }
  // Every sum is released as soon as it has been used, except those that may overflow.
  Matrix take_total(Dot& dot) const {
    UndisturbedSums& sums = dot.undisturbed_;
    Plane<double> variance = sums.variance(model_);
    Matrix out{std::move(sums.value), std::move(variance)};
    const double operands = 2 * model_.operand_roundoff * model_.operand_roundoff;
    if (!(operands > 0)) sums.squares.resize(0, 0);
    if (dots_ != nullptr) {
      dots_->push_back({shared(out.v), ScaledPlane(Plane<double>(out.q.sqrt()))});
      out.dot = dots_->size();
    }
    if (dot.propagated_.size() > 0) out.q += dot.propagated_;
    if (operands > 0) out.q += operands * sums.squares;
    if (const double eta = model_.operand_underflow; eta > 0) out.q += eta * eta * dot.underflow_;
    return dot.met_.size() == 0 ? out : opened(std::move(out), dot.met_, model_.largest);
  }

  RoundingModel model_;
  double uu_, underflow_;  // variances of a relative and of an absolute rounding
  std::vector<UndisturbedDot>* dots_;
  static inline const Exact<double> exact_{};
};
static_assert(Arithmetic<Variance>);

}  // namespace backgauge
