// SPDX-License-Identifier: Apache-2.0
// The arithmetic of random rounding: plain values and, beside them, several runs in which each result of an operation
// is disturbed as a rounding would. They show how far roundings carry together through shared sub-expressions, which
// variance.h takes as independent. bounds.md 6.
//
// All runs go through an operation at once: a product with a matrix that no run disturbs is one product. What Variance
// has made of the same problem without disturbances is not made again.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "reference/arithmetic/uniform.h"
#include "reference/arithmetic/variance.h"

namespace backgauge {

struct Noisy {
  Plane<double> v;     // undisturbed
  Plane<double> runs;  // one run below the other, [runs * rows, cols]; empty where they are all equal to v

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
  bool certain() const { return runs.size() == 0; }
  const double* run(Index r) const { return certain() ? v.data() : runs.data() + r * v.size(); }
};

class Noise {
 public:
  using Matrix = Noisy;

  // Equal seeds, equal disturbances. dots: of Variance, for the problem that is evaluated, once, and the same model;
  // nullptr: they are computed again.
  Noise(const RoundingModel& model, Index runs, std::uint64_t seed, const std::vector<UndisturbedDot>* dots = nullptr)
      : model_(model), runs_(runs), uniform_(seed), dots_(dots) {}

  Matrix input(const double* values, Index rows, Index cols) const { return {exact_.input(values, rows, cols), {}}; }
  Matrix recomputable(const double* values, Index rows, Index cols) const {
    return disturbed(input(values, rows, cols), model_.recomputed_co, 0);
  }
  Matrix zeros(Index rows, Index cols) const { return {exact_.zeros(rows, cols), {}}; }
  Matrix ones(Index rows, Index cols) const { return {exact_.ones(rows, cols), {}}; }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    return rounded(rounded({exact_.dropout_mask(keep, dropout, rows, cols), {}}));
  }

  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    (add(out, rest), ...);
    return out;
  }
  Matrix sum(const std::vector<Matrix>& terms) const {
    Matrix out = terms.front();
    for (std::size_t k = 1; k < terms.size(); ++k) add(out, terms[k]);
    return out;
  }
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    Matrix out = first;
    (multiply(out, rest), ...);
    return out;
  }
  Matrix negative(const Matrix& x) const { return {-x.v, -x.runs}; }
  Matrix difference(const Matrix& x, const Matrix& y) const { return sum(x, negative(y)); }

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    return model_.operand_roundoff == 0 ? dot(x, y) : dot(narrowed(x), narrowed(y));
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return sum(c, carried(matmul(x, y))); }
  Matrix column_sums(const Matrix& x) const {
    Matrix out{x.v.colwise().sum(), {}};
    if (!x.certain()) {
      out.runs.resize(runs_, x.cols());
      for (Index r = 0; r < runs_; ++r) out.runs.row(r) = block(x, r).colwise().sum();
    }
    const Plane<double> squares = x.v.square().colwise().sum();
    const Plane<double> variance = sum_variance(model_, static_cast<double>(x.rows()), squares, out.v);
    return with_noise(std::move(out), variance.sqrt());
  }

  Matrix sigmoid(const Matrix& x) const {
    Matrix out = activated(
        x, exact_.sigmoid(x.v), [](const Plane<double>& at) { return exact_.sigmoid(at); },
        [](double s) {
          const double slope = s * (1 - s), bend = slope * (1 - 2 * s);
          return Derivatives{slope, bend, slope * (1 - 6 * slope)};
        });
    return with_noise(std::move(out),
                      model_.activation_relative() * out.v + model_.sigmoid_absolute() + model_.least_normal);
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out = activated(
        x, exact_.tanh(x.v), [](const Plane<double>& at) { return exact_.tanh(at); },
        [](double t) {
          const double slope = 1 - t * t;
          return Derivatives{slope, -2 * t * slope, slope * (6 * t * t - 2)};
        });
    return with_noise(std::move(out), model_.activation_relative() * out.v.abs() + model_.least_normal);
  }
  Matrix relu(const Matrix& x) const { return {exact_.relu(x.v), exact_.relu(x.runs)}; }
  Matrix sigmoid_slope(const Matrix& s) const {
    Matrix out{exact_.sigmoid_slope(s.v), exact_.sigmoid_slope(s.runs)};
    return with_noise(std::move(out), model_.unit_roundoff * s.v + model_.least_normal);  // u (s(1-s) + s^2)
  }
  Matrix tanh_slope(const Matrix& t) const {
    Matrix out{exact_.tanh_slope(t.v), exact_.tanh_slope(t.runs)};
    const double size = model_.unit_roundoff + model_.least_normal;  // u (1-t^2 + t^2)
    return with_noise(std::move(out), Plane<double>::Constant(t.rows(), t.cols(), size));
  }
  Matrix where_positive(const Matrix& h, const Matrix& x) const {
    Matrix out{exact_.where_positive(h.v, x.v), x.runs};
    if (h.certain() && x.certain()) return out;
    spread(out, x);
    for (Index r = 0; r < runs_; ++r) {
      double* to = out.runs.data() + r * out.size();
      const double* gate = h.run(r);
      for (Index k = 0; k < out.size(); ++k) {
        if (!(gate[k] > 0)) to[k] = 0;
      }
    }
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    return sum(product(sum(ones(z.rows(), z.cols()), negative(z)), n), product(z, h));
  }
  Matrix clip(const Matrix& x, double limit) const { return {exact_.clip(x.v, limit), exact_.clip(x.runs, limit)}; }
  Matrix carried(const Matrix& x) const { return disturbed(x, model_.carry_roundoff, model_.carry_underflow); }

  Matrix transpose(const Matrix& x) const {
    Matrix out{x.v.transpose(), {}};
    if (x.certain()) return out;
    out.runs.resize(runs_ * x.cols(), x.rows());
    for (Index r = 0; r < runs_; ++r) out.runs.middleRows(r * x.cols(), x.cols()) = block(x, r).transpose();
    return out;
  }
  Matrix rows(const Matrix& x, Index begin, Index count) const {
    Matrix out{x.v.middleRows(begin, count), {}};
    if (x.certain()) return out;
    out.runs.resize(runs_ * count, x.cols());
    for (Index r = 0; r < runs_; ++r) out.runs.middleRows(r * count, count) = block(x, r).middleRows(begin, count);
    return out;
  }
  Matrix columns(const Matrix& x, Index begin, Index count) const {
    if (x.certain()) return {x.v.middleCols(begin, count), {}};
    return {x.v.middleCols(begin, count), x.runs.middleCols(begin, count)};
  }
  Matrix repeat_row(const Matrix& row, Index count) const {
    Matrix out{row.v.replicate(count, 1), {}};
    if (row.certain()) return out;
    out.runs.resize(runs_ * count, row.cols());
    for (Index r = 0; r < runs_; ++r) out.runs.middleRows(r * count, count) = block(row, r).replicate(count, 1);
    return out;
  }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    const Index rows = parts.front()->rows();
    Matrix out{stack_columns(planes_of(parts, &Matrix::v), rows), {}};
    if (all_certain(parts)) return out;
    out.runs.resize(runs_ * rows, out.cols());
    Index at = 0;
    for (const Matrix* part : parts) {
      if (part->certain()) {
        out.runs.middleCols(at, part->cols()) = part->v.replicate(runs_, 1);
      } else {
        out.runs.middleCols(at, part->cols()) = part->runs;
      }
      at += part->cols();
    }
    return out;
  }
  Matrix below(const std::vector<const Matrix*>& parts) const {
    const Index cols = parts.front()->cols();
    Matrix out{stack_rows(planes_of(parts, &Matrix::v), cols), {}};
    if (all_certain(parts)) return out;
    out.runs.resize(runs_ * out.rows(), cols);
    double* to = out.runs.data();
    for (Index r = 0; r < runs_; ++r) {
      for (const Matrix* part : parts) to = std::copy_n(part->run(r), part->size(), to);
    }
    return out;
  }

 private:
  using Block = Eigen::Map<const Plane<double>>;
  struct Derivatives {
    double first, second, third;
  };

  // What runs are off by, as floats: a disturbance need not be known to more digits. Divided by a power of two, so that
  // the largest is about 1; those 2^-126 times smaller vanish, and count in Variance alone.
  struct Scaled {
    Plane<float> values;
    double scale;

    template <class Expression>
    explicit Scaled(const Expression& of) {
      const Plane<double> x = of;
      double largest = 0;
      for (Index k = 0; k < x.size(); ++k) {
        const double size = std::abs(x.data()[k]);
        if (size > largest && size <= std::numeric_limits<double>::max()) largest = size;
      }
      scale = largest == 0 ? 1 : std::ldexp(1, std::ilogb(largest));
      values = (x / scale).template cast<float>();
    }
  };
  static void add_product(const Scaled& x, const Scaled& y, double* to) {
    Plane<float> product(x.values.rows(), y.values.cols());
    dense_product(Product<float>{x.values.data(), y.values.data(), product.data(), product.rows(), x.values.cols(),
                                 product.cols()});
    for (Index k = 0; k < product.size(); ++k) to[k] += static_cast<double>(product.data()[k]) * x.scale * y.scale;
  }

  static Block block(const Matrix& x, Index r) { return Block(x.run(r), x.rows(), x.cols()); }
  static bool all_certain(const std::vector<const Matrix*>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const Matrix* part) { return part->certain(); });
  }
  // Gives `out` runs of its own, those of a certain `x` being equal.
  void spread(Matrix& out, const Matrix& x) const {
    if (out.certain()) out.runs = x.v.replicate(runs_, 1);
  }

  // Every element of every run changed by what `change` makes of it, of the one of `other` at its place, and of a
  // random number.
  template <class Change>
  void disturb(Matrix& out, const Matrix& other, Change change) const {
    spread(out, out);
    if (!other.certain()) return disturb(out.runs.data(), other.runs.data(), out.runs.size(), change);
    for (Index r = 0; r < runs_; ++r) disturb(out.runs.data() + r * out.size(), other.v.data(), out.size(), change);
  }
  template <class Change>
  void disturb(double* to, const double* from, Index size, Change change) const {
    for (; size > 0; size -= Uniform::kMost, to += Uniform::kMost, from += Uniform::kMost) {
      const int count = static_cast<int>(std::min<Index>(Uniform::kMost, size));
      const double* random = uniform_.next(count);
      for (int k = 0; k < count; ++k) to[k] = change(to[k], from[k], random[k]);
    }
  }
  void add(Matrix& out, const Matrix& term) const {
    const double u = model_.unit_roundoff, eta = model_.least_normal;
    disturb(out, term, [u, eta](double x, double y, double random) {
      const double value = x + y;
      return value + (u * std::abs(value) + eta) * random;
    });
    out.v += term.v;
  }
  void multiply(Matrix& out, const Matrix& factor) const {
    const double u = model_.unit_roundoff, eta = model_.least_normal;
    disturb(out, factor, [u, eta](double x, double y, double random) {
      const double value = x * y;
      return value + (u * std::abs(value) + eta) * random;
    });
    out.v *= factor.v;
  }
  // The size of the disturbance is that of the undisturbed result: it differs from that of a run in second order.
  Matrix with_noise(Matrix x, Plane<double> size) const {
    const Matrix sizes{std::move(size), {}};
    disturb(x, sizes, [](double value, double most, double random) { return value + most * random; });
    return x;
  }
  Matrix disturbed(Matrix x, double relative, double absolute) const {
    if (relative == 0) return x;
    disturb(x, x, [relative, absolute](double value, double, double random) {
      return value + (relative * std::abs(value) + absolute) * random;
    });
    return x;
  }
  // An operand is rounded alike by every product that reads it: the disturbance is a function of the number.
  Matrix narrowed(Matrix x) const {
    spread(x, x);
    for (Index r = 0; r < runs_; ++r) {
      double* to = x.runs.data() + r * x.size();
      for (Index k = 0; k < x.size(); ++k) {
        const double most = model_.operand_roundoff * std::abs(to[k]) + model_.operand_underflow;
        to[k] += most * uniform_.of(to[k], static_cast<std::uint64_t>(r));
      }
    }
    return x;
  }
  Matrix rounded(Matrix x) const { return disturbed(std::move(x), model_.unit_roundoff, 0); }

  Matrix dot(const Matrix& x, const Matrix& y) const {
    std::optional<UndisturbedDot> own;
    if (dots_ == nullptr) own.emplace(model_, x.v, y.v);
    const UndisturbedDot& undisturbed = own ? *own : dots_->at(dots_done_++);
    Matrix out{undisturbed.value, {}};
    if (!x.certain() || !y.certain()) spread(out, out);
    // x' y' - x y = (x' - x) y' + x (y' - y)
    if (!x.certain() && y.certain()) {
      add_product(Scaled(x.runs - x.v.replicate(runs_, 1)), Scaled(y.v), out.runs.data());
    } else if (!y.certain()) {
      const Scaled left(x.v);
      for (Index r = 0; r < runs_; ++r) {
        double* const to = out.runs.data() + r * out.size();
        if (!x.certain()) add_product(Scaled(block(x, r) - x.v), Scaled(block(y, r)), to);
        add_product(left, Scaled(block(y, r) - y.v), to);
      }
    }
    return with_noise(std::move(out), undisturbed.variance.sqrt());
  }

  // f of every run, from the value and the derivatives of f where no run is disturbed.
  template <class Function, class Slopes>
  Matrix activated(const Matrix& x, Plane<double> value, Function function, Slopes derivatives) const {
    Matrix out{std::move(value), {}};
    if (x.certain()) return out;
    // What follows the third derivative is below 2^-52 of the value: (2^-13)^4, both functions having fourth
    // derivatives of the size of their value at most.
    constexpr double kNear = 0x1p-13;
    Plane<Derivatives> slopes(x.rows(), x.cols());
    for (Index k = 0; k < x.size(); ++k) slopes.data()[k] = derivatives(out.v.data()[k]);
    out.runs.resize(x.runs.rows(), x.cols());
    for (Index r = 0; r < runs_; ++r) {
      const double* from = x.run(r);
      double* to = out.runs.data() + r * x.size();
      double farthest = 0;
      for (Index k = 0; k < x.size(); ++k) {
        const Derivatives& d = slopes.data()[k];
        const double off = from[k] - x.v.data()[k];
        farthest = std::max(farthest, std::abs(off));
        to[k] = out.v.data()[k] + off * (d.first + off * (d.second / 2 + off * (d.third / 6)));
      }
      if (!(farthest <= kNear)) Eigen::Map<Plane<double>>(to, x.rows(), x.cols()) = function(block(x, r));
    }
    return out;
  }

  RoundingModel model_;
  Index runs_;
  mutable Uniform uniform_;
  const std::vector<UndisturbedDot>* dots_;
  mutable std::size_t dots_done_ = 0;
  static inline const Exact<double> exact_{};
};

}  // namespace backgauge
