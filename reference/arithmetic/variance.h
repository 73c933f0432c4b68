// SPDX-License-Identifier: Apache-2.0
// The arithmetic of values and the variances of their errors: roundings taken as independent, bounded and of mean zero,
// propagated to first order. One of the two statistical twins of bound.h; the other is noise.h. bounds.md 6. An element
// whose variance is infinite may be anything: a number on the way to it may overflow within 8 deviations.
// bounds.md 3.11
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/range.h"
#include "reference/arithmetic/roundings.h"

namespace backgauge {

struct Spread {
  Plane<double> v;
  Plane<double> q;  // variance
  // Of a factor that is a difference, for all of its elements: the largest of what the other factors are multiplied by
  // on the way (range.h). 0: it is none.
  double reach = 0;

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
};

// What one product of matrices adds to the variance of its elements by its own roundings: n products and sums, each at
// most of the size of the terms or of their sum. The square of the sum is needed for terms of one sign.
inline Plane<double> dot_variance(const RoundingModel& model, const Plane<double>& x, const Plane<double>& y,
                                  const Plane<double>& value) {
  const double n = model.products_of_term() * static_cast<double>(x.cols());
  const double u = model.unit_roundoff, eta = model.least_normal, left_out = model.left_out();
  const Plane<double> squares = plane_product<double>(x.square(), y.square());
  Plane<double> out = u * u * (n + 1) * (squares + value.square()) + 2 * n * eta * eta;
  if (left_out > 0) out += left_out * left_out * squares;
  return out;
}

// The same of a sum of m terms whose squares have the sum `squares`.
inline Plane<double> sum_variance(const RoundingModel& model, double m, const Plane<double>& squares,
                                  const Plane<double>& value) {
  const double u = model.unit_roundoff, eta = model.least_normal;
  return std::max(m - 1, 0.0) * (u * u * (squares + value.square()) + eta * eta);
}

// A product of matrices where nothing is disturbed, and what its own roundings add to the variance.
struct UndisturbedDot {
  Plane<double> value, variance;

  UndisturbedDot(const RoundingModel& model, const Plane<double>& x, const Plane<double>& y)
      : value(plane_product<double>(x, y)), variance(dot_variance(model, x, y, value)) {}
};

class Variance {
 public:
  using Matrix = Spread;

  // dots: gets every product of matrices, in the order in which the equations ask for them; or nullptr.
  explicit Variance(const RoundingModel& model, std::vector<UndisturbedDot>* dots = nullptr)
      : model_(model),
        uu_(model.unit_roundoff * model.unit_roundoff),
        underflow_(model.least_normal * model.least_normal),
        dots_(dots) {}

  Matrix input(const double* values, Index rows, Index cols) const { return exactly(exact_.input(values, rows, cols)); }
  Matrix recomputable(const double* values, Index rows, Index cols) const {
    Matrix out = input(values, rows, cols);
    out.q = (model_.recomputed_co * out.v).square();
    return out;
  }
  Matrix zeros(Index rows, Index cols) const { return exactly(exact_.zeros(rows, cols)); }
  Matrix ones(Index rows, Index cols) const { return exactly(exact_.ones(rows, cols)); }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix out = exactly(exact_.dropout_mask(keep, dropout, rows, cols));
    out.q = 2 * uu_ * out.v.square();
    return out;
  }

  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    return sum_of({&first, &rest...});
  }
  Matrix sum(const std::vector<Matrix>& terms) const {
    std::vector<const Matrix*> pointers;
    for (const Matrix& term : terms) pointers.push_back(&term);
    return sum_of(pointers);
  }
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    Matrix out{first.v, first.q};
    ((out = {out.v * rest.v, out.v.square() * rest.q + rest.v.square() * out.q + out.q * rest.q +
                                 uu_ * (out.v * rest.v).square() + underflow_}),
     ...);
    return open_products(std::move(out), {&first, &rest...});
  }
  Matrix negative(const Matrix& x) const { return {-x.v, x.q}; }
  Matrix difference(const Matrix& x, const Matrix& y) const {
    Matrix out = sum(x, negative(y));
    out.reach = reach_of_difference(size_of(x), size_of(y), size_of(out));
    return out;
  }

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    UndisturbedDot dot(model_, x.v, y.v);
    Matrix out{dot.value,
               product_of_errors(x.v.square(), y.q) + product_of_errors(x.q, y.v.square() + y.q) + dot.variance};
    if (dots_ != nullptr) dots_->push_back(std::move(dot));
    if (const double operands = 2 * model_.operand_roundoff * model_.operand_roundoff; operands > 0) {
      out.q += operands * plane_product<double>(x.v.square(), y.v.square());
    }
    if (const double eta = model_.operand_underflow; eta > 0) {
      out.q += eta * eta *
               (plane_product<double>(x.v.square(), Plane<double>::Ones(y.rows(), y.cols())) +
                plane_product<double>(Plane<double>::Ones(x.rows(), x.cols()), y.v.square()));
    }
    return open_dots(std::move(out), nullptr, x, y);
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    const Matrix dot = carried(matmul(x, y));
    const double n = model_.products_of_term() * static_cast<double>(x.cols());
    Matrix out{c.v + dot.v, c.q + dot.q + uu_ * (n + 1) * (c.v.square() + (c.v + dot.v).square())};
    return open_dots(std::move(out), &c, x, y);
  }
  Matrix column_sums(const Matrix& x) const {
    Matrix out = exactly(x.v.colwise().sum());
    out.q = x.q.colwise().sum();
    out.q += sum_variance(model_, static_cast<double>(x.rows()), x.v.square().colwise().sum(), out.v);
    if (size_of(x) * static_cast<double>(x.rows()) <= model_.largest) return out;
    return opened(std::move(out), sizes_of(x).colwise().sum(), model_.largest);
  }

  Matrix sigmoid(const Matrix& x) const {
    Matrix out = exactly(exact_.sigmoid(x.v));
    const Plane<double> slope = (out.v * (1 - out.v) + 0.097 * x.q.sqrt()).min(0.25);
    out.q = slope.square() * x.q + (model_.activation_relative() * out.v / 2).square() +
            model_.sigmoid_absolute() * model_.sigmoid_absolute() / 4 + underflow_;
    return out;
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out = exactly(exact_.tanh(x.v));
    const Plane<double> slope = (1 - out.v.square() + 0.77 * x.q.sqrt()).min(1.0);
    out.q = slope.square() * x.q + (model_.activation_relative() * out.v / 2).square() + underflow_;
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
  // Where the sign of h is within 8 deviations of 0 either side is right: the deviation covers both.
  Matrix where_positive(const Matrix& h, const Matrix& x) const {
    Matrix out{exact_.where_positive(h.v, x.v), x.q};
    for (Index k = 0; k < out.size(); ++k) {
      const double value = h.v.data()[k], q = h.q.data()[k];
      const bool closed = !(value > kDeviations * std::sqrt(q));
      if (closed && !(std::isfinite(q) && std::isfinite(x.q.data()[k]))) {  // 0 times what may be infinite
        out.q.data()[k] = kOpen;
        continue;
      }
      const bool uncertain = q > 0 && value * value <= 64 * q;
      if (uncertain) {
        out.q.data()[k] += x.v.data()[k] * x.v.data()[k];
      } else if (!(value > 0)) {
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

  Matrix transpose(const Matrix& x) const { return {x.v.transpose(), x.q.transpose()}; }
  Matrix rows(const Matrix& x, Index begin, Index count) const {
    return {x.v.middleRows(begin, count), x.q.middleRows(begin, count)};
  }
  Matrix columns(const Matrix& x, Index begin, Index count) const {
    return {x.v.middleCols(begin, count), x.q.middleCols(begin, count)};
  }
  Matrix repeat_row(const Matrix& row, Index count) const {
    return {row.v.replicate(count, 1), row.q.replicate(count, 1)};
  }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    const Index rows = parts.front()->rows();
    return {stack_columns(planes_of(parts, &Matrix::v), rows), stack_columns(planes_of(parts, &Matrix::q), rows)};
  }
  Matrix below(const std::vector<const Matrix*>& parts) const {
    const Index cols = parts.front()->cols();
    return {stack_rows(planes_of(parts, &Matrix::v), cols), stack_rows(planes_of(parts, &Matrix::q), cols)};
  }

 private:
  static Matrix exactly(Plane<double> v) {
    Plane<double> q = Plane<double>::Zero(v.rows(), v.cols());
    return {std::move(v), std::move(q)};
  }
  Matrix sum_of(const std::vector<const Matrix*>& parts) const {
    Matrix out{parts.front()->v, parts.front()->q};
    Plane<double> squares = out.v.square();
    for (std::size_t p = 1; p < parts.size(); ++p) {
      out.v += parts[p]->v;
      out.q += parts[p]->q;
      squares += parts[p]->v.square();
    }
    out.q += sum_variance(model_, static_cast<double>(parts.size()), squares, out.v);
    double together = 0;
    for (const Matrix* part : parts) together += size_of(*part);
    if (together <= model_.largest) return out;
    Plane<double> met = Plane<double>::Zero(out.rows(), out.cols());
    for (const Matrix* part : parts) met += sizes_of(*part);
    return opened(std::move(out), met, model_.largest);
  }

  // bounds.md 3.11, sizes being |v| and 8 deviations. First of a whole matrix, which nearly always is enough.
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
  Matrix open_products(Matrix out, const std::vector<const Matrix*>& factors) const {
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
  // c, if there is one, is a term too.
  Matrix open_dots(Matrix out, const Matrix* c, const Matrix& x, const Matrix& y) const {
    const double x_size = size_of(x), y_size = size_of(y), c_size = c == nullptr ? 0 : size_of(*c);
    const double together = static_cast<double>(x.cols()) * x_size * y_size;
    if (together + c_size <= model_.largest && std::max(x_size, y_size) <= model_.operand_largest) return out;
    const auto operand = [&](const Matrix& z) {
      const Plane<double> sizes = sizes_of(z);
      return Plane<double>((sizes <= model_.operand_largest).select(sizes, kOpen));
    };
    Plane<double> met = plane_product<double>(operand(x), operand(y));
    if (c != nullptr) met += sizes_of(*c);
    return opened(std::move(out), met, model_.largest);
  }
  RoundingModel model_;
  double uu_, underflow_;  // variances of a relative and of an absolute rounding
  std::vector<UndisturbedDot>* dots_;
  static inline const Exact<double> exact_{};
};

}  // namespace backgauge
