// SPDX-License-Identifier: Apache-2.0
// The arithmetic of random rounding: plain values and, beside them, several runs in which each result of an operation
// is disturbed as a rounding would. They show how far roundings carry together through shared sub-expressions, which
// variance.h takes as independent. bounds.md 6.
//
// Every operation says what it makes of what its operands are off by, up to the order that matters, and adds its own
// rounding: nothing is lost by taking differences of nearly equal numbers, so floats are enough. How large a rounding
// is comes from the undisturbed result. All runs go through an operation at once: a product with a matrix that no run
// disturbs is one product. What Variance has made of the same problem without disturbances is not made again.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "reference/arithmetic/noisy.h"
#include "reference/arithmetic/uniform.h"
#include "reference/arithmetic/variance.h"

namespace backgauge {

class NoisyProductOverSteps;
class NoisySumOverSteps;

class Noise {
 public:
  using Matrix = Noisy;
  using ProductOverSteps = NoisyProductOverSteps;
  using SumOverSteps = NoisySumOverSteps;

  // `runs` of a larger number of them, from `first_run` on. A run is disturbed by its own numbers: equal ones for equal
  // numbers of a run, whichever runs are made together.
  // dots: of Variance, for the problem that is evaluated, once, and the same model; nullptr: they are computed again.
  Noise(const RoundingModel& model, Index runs, std::uint64_t first_run,
        const std::vector<UndisturbedDot>* dots = nullptr)
      : model_(model), dots_(dots) {
    for (Index r = 0; r < runs; ++r) generators_.emplace_back(first_run + static_cast<std::uint64_t>(r));
  }
  Index runs() const { return std::ssize(generators_); }

  Matrix input(const double* values, Index rows, Index cols) const { return exact_.input(values, rows, cols); }
  Matrix recomputable(const double* values, Index rows, Index cols) const {
    return rounded(input(values, rows, cols), model_.recomputed_co, 0);
  }
  Matrix zeros(Index rows, Index cols) const { return exact_.zeros(rows, cols); }
  Matrix ones(Index rows, Index cols) const { return exact_.ones(rows, cols); }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    const double u = model_.unit_roundoff;
    return rounded(rounded(exact_.dropout_mask(keep, dropout, rows, cols), u, 0), u, 0);
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
  Matrix negative(const Matrix& x) const { return {-x.v, -x.off, x.unit}; }
  Matrix difference(const Matrix& x, const Matrix& y) const { return sum(x, negative(y)); }

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    return model_.operand_roundoff == 0 ? dot(x, y) : dot(narrowed(x), narrowed(y));
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return sum(c, carried(matmul(x, y))); }
  Matrix column_sums(const Matrix& x) const {
    Matrix out = Plane<double>(x.v.colwise().sum());
    if (!x.certain()) {
      out.unit = x.unit;
      out.off.resize(runs(), x.cols());
      for (Index r = 0; r < runs(); ++r) out.off.row(r) = block(x, r).colwise().sum();
    }
    const Plane<double> squares = x.v.square().colwise().sum();
    const Plane<double> variance = sum_variance(model_, static_cast<double>(x.rows()), squares, out.v);
    return with_noise(std::move(out), variance.sqrt());
  }

  // Of the undisturbed values only slopes and sizes of roundings are taken: forms that compilers make vectors of, whose
  // errors of 2^-52 are none.
  Matrix sigmoid(const Matrix& x) const {
    Matrix out = activated(
        x, 1 / (1 + (-x.v).exp()), [](const Plane<double>& at) { return exact_.sigmoid(at); },
        [](double s) {
          const double slope = s * (1 - s), bend = slope * (1 - 2 * s);
          return Derivatives{slope, bend, slope * (1 - 6 * slope)};
        });
    const Plane<double> size = model_.activation_relative() * out.v + model_.sigmoid_absolute() + model_.least_normal;
    return with_noise(std::move(out), size);
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out = activated(
        x, 1 - 2 / ((2 * x.v).exp() + 1), [](const Plane<double>& at) { return exact_.tanh(at); },
        [](double t) {
          const double slope = 1 - t * t;
          return Derivatives{slope, -2 * t * slope, slope * (6 * t * t - 2)};
        });
    const Plane<double> size = model_.activation_relative() * out.v.abs() + model_.least_normal;
    return with_noise(std::move(out), size);
  }
  Matrix relu(const Matrix& x) const {
    Matrix out = exact_.relu(x.v);
    if (x.certain()) return out;
    out.unit = x.unit;
    out.off = x.off;
    const Plane<float> v = (x.v / x.unit).cast<float>();
    for_each(out, [&](float& off, Index k, Index) {
      off = v.data()[k] > 0 ? std::max(off, -v.data()[k]) : std::max(v.data()[k] + off, 0.0f);
    });
    return out;
  }
  Matrix sigmoid_slope(const Matrix& s) const {  // (s+d)(1-s-d) - s(1-s) = d (1 - 2s - d)
    Matrix out{exact_.sigmoid_slope(s.v), s.off, s.unit};
    const Plane<float> first = (1 - 2 * s.v).cast<float>();
    const float unit = static_cast<float>(s.unit);
    for_each(out, [&](float& off, Index k, Index) { off *= first.data()[k] - unit * off; });
    return with_noise(std::move(out), model_.unit_roundoff * s.v.abs() + model_.least_normal);  // u (s(1-s) + s^2)
  }
  Matrix tanh_slope(const Matrix& t) const {  // t^2 - (t+d)^2 = -d (2t + d)
    Matrix out{exact_.tanh_slope(t.v), t.off, t.unit};
    const Plane<float> first = (-2 * t.v).cast<float>();
    const float unit = static_cast<float>(t.unit);
    for_each(out, [&](float& off, Index k, Index) { off *= first.data()[k] - unit * off; });
    const double size = model_.unit_roundoff + model_.least_normal;  // u (1-t^2 + t^2)
    return with_noise(std::move(out), Plane<double>::Constant(t.rows(), t.cols(), size));
  }
  Matrix where_positive(const Matrix& h, const Matrix& x) const {
    Matrix out = exact_.where_positive(h.v, x.v);
    if (h.certain() && x.certain()) return out;
    spread(out, x, std::max(x.unit, power_of_two_below(model_.unit_roundoff * largest_of(x.v))));
    const Plane<float> v = (x.v / out.unit).cast<float>();
    const Plane<float> gate =
        h.certain() ? Plane<float>(h.v.cast<float>()) : Plane<float>((h.v / h.unit).cast<float>());
    for_each(out, [&](float& off, Index k, Index r) {
      const float moved = h.certain() ? 0 : h.off_run(r)[k];
      const bool was_open = h.v.data()[k] > 0, is_open = h.certain() ? was_open : gate.data()[k] + moved > 0;
      if (is_open) {
        if (!was_open) off += v.data()[k];
      } else {
        off = was_open ? -v.data()[k] : 0;
      }
    });
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    return sum(product(sum(ones(z.rows(), z.cols()), negative(z)), n), product(z, h));
  }
  Matrix clip(const Matrix& x, double limit) const {
    Matrix out = exact_.clip(x.v, limit);
    if (x.certain()) return out;
    spread(out, x, x.unit);
    if (!(limit > 0)) return out;
    for_each(out, [&](float& off, Index k, Index) {
      const double run = x.v.data()[k] + x.unit * static_cast<double>(off);
      off = static_cast<float>((std::min(std::max(run, -limit), limit) - out.v.data()[k]) / x.unit);
    });
    return out;
  }
  Matrix carried(const Matrix& x) const { return rounded(x, model_.carry_roundoff, model_.carry_underflow); }

  Matrix transpose(const Matrix& x) const {
    return moved(x, x.v.transpose(), [](const auto& from) { return from.transpose(); });
  }
  Matrix rows(const Matrix& x, Index begin, Index count) const {
    return moved(x, x.v.middleRows(begin, count), [=](const auto& from) { return from.middleRows(begin, count); });
  }
  Matrix columns(const Matrix& x, Index begin, Index count) const {
    if (x.certain()) return Plane<double>(x.v.middleCols(begin, count));
    return {x.v.middleCols(begin, count), x.off.middleCols(begin, count), x.unit};
  }
  Matrix repeat_row(const Matrix& row, Index count) const {
    return moved(row, row.v.replicate(count, 1), [=](const auto& from) { return from.replicate(count, 1); });
  }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    Matrix out = stack_columns(planes_of(parts, &Matrix::v), parts.front()->rows());
    if (!unite(out, parts)) return out;
    Index at = 0;
    for (const Matrix* part : parts) {
      if (!part->certain()) out.off.middleCols(at, part->cols()) = part->off * scale(*part, out);
      at += part->cols();
    }
    return out;
  }
  Matrix below(const std::vector<const Matrix*>& parts) const {
    Matrix out = stack_rows(planes_of(parts, &Matrix::v), parts.front()->cols());
    if (!unite(out, parts)) return out;
    for (Index r = 0; r < runs(); ++r) {
      Index at = r * out.rows();
      for (const Matrix* part : parts) {
        if (!part->certain()) out.off.middleRows(at, part->rows()) = block(*part, r) * scale(*part, out);
        at += part->rows();
      }
    }
    return out;
  }

  // Nothing but the squares is wanted of an output.
  Matrix output(Matrix x) const {
    x.square = Plane<double>::Zero(x.rows(), x.cols());
    for (Index r = 0; r < runs() && !x.certain(); ++r) x.square += block(x, r).cast<double>().square();
    x.square *= x.unit * x.unit;
    x.off.resize(0, 0);
    return x;
  }

 private:
  friend NoisyProductOverSteps;
  friend NoisySumOverSteps;

  using Block = Eigen::Map<const Plane<float>>;
  struct Derivatives {
    double first, second, third;
  };
  static constexpr std::array<float, Uniform::kMost> kZeros{};

  static Block block(const Matrix& x, Index r) { return Block(x.off_run(r), x.rows(), x.cols()); }
  static float scale(const Matrix& from, const Matrix& to) { return static_cast<float>(from.unit / to.unit); }

  // Gives `out` what the runs of `like` are off by, in another unit; 0: any.
  void spread(Matrix& out, const Matrix& like, double unit) const {
    out.unit = unit > 0 ? unit : 1;
    if (like.certain()) {
      out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    } else {
      out.off = like.off * scale(like, out);
    }
  }
  // Room for what the runs of `out` are off by, being put together of `parts`; false where none of them is off.
  bool unite(Matrix& out, const std::vector<const Matrix*>& parts) const {
    for (const Matrix* part : parts) out.unit = std::max(out.unit, part->unit);
    if (std::all_of(parts.begin(), parts.end(), [](const Matrix* part) { return part->certain(); })) return false;
    out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    return true;
  }
  template <class Move>
  Matrix moved(const Matrix& x, Plane<double> v, Move move) const {
    Matrix out = std::move(v);
    if (x.certain()) return out;
    out.unit = x.unit;
    out.off.resize(runs() * out.rows(), out.cols());
    for (Index r = 0; r < runs(); ++r) out.off.middleRows(r * out.rows(), out.rows()) = move(block(x, r));
    return out;
  }
  // change(off, k, r) for element k of run r, where runs are off at all.
  template <class Change>
  void for_each(Matrix& out, Change change) const {
    if (out.certain()) return;
    for (Index r = 0; r < runs(); ++r) {
      float* const run = out.off.data() + r * out.size();
      for (Index k = 0; k < out.size(); ++k) change(run[k], k, r);
    }
  }

  // How far results are rounded at most, in units. The unit is that of the roundings, not of what the operands bring
  // in: through many steps it would move away from what runs are off by, by the size of the weights in each. Floats
  // have room for what is 2^60 of it and for its squares.
  static ScaledPlane rounding_of(ScaledPlane size, double of_operands) {
    const double scale = size.scale, unit = std::max(of_operands * 0x1p-60, scale);
    if (unit > scale) size.values *= static_cast<float>(scale / unit);
    size.scale = unit;
    return size;
  }
  // change(to, from, random, most, at, count) for pieces of every run, `from` being what `other` is off by there.
  template <class Change>
  void disturb(Matrix& out, const Matrix& other, const ScaledPlane& rounding, Change change) const {
    if (out.certain()) out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    out.unit = rounding.scale;
    const Index size = out.size();
    for (Index r = 0; r < runs(); ++r) {
      for (Index at = 0; at < size; at += Uniform::kMost) {
        const int count = static_cast<int>(std::min<Index>(Uniform::kMost, size - at));
        const float* const from = other.certain() ? kZeros.data() : other.off_run(r) + at;
        change(out.off.data() + r * size + at, from, generators_[static_cast<std::size_t>(r)].next(count),
               rounding.values.data() + at, at, count);
      }
    }
  }
  void add(Matrix& out, const Matrix& term) const {
    const double own = out.unit;
    out.v += term.v;
    const ScaledPlane to =
        rounding_of(ScaledPlane(model_.unit_roundoff * out.v.abs() + model_.least_normal), std::max(own, term.unit));
    const float a = static_cast<float>(own / to.scale), b = static_cast<float>(term.unit / to.scale);
    disturb(out, term, to,
            [a, b](float* __restrict off, const float* __restrict from, const float* __restrict random,
                   const float* __restrict most, Index, int count) {
              for (int k = 0; k < count; ++k) off[k] = a * off[k] + b * from[k] + most[k] * random[k];
            });
  }
  void multiply(Matrix& out, const Matrix& factor) const {  // (x+d)(y+e) - xy = d y + e x + d e
    const double own = out.unit;
    const Plane<double> x = out.v;
    out.v *= factor.v;
    const ScaledPlane to = rounding_of(
        ScaledPlane(model_.unit_roundoff * out.v.abs() + model_.least_normal),
        std::max(own * power_of_two_below(largest_of(factor.v)), factor.unit * power_of_two_below(largest_of(x))));
    const Plane<float> of_own = (factor.v * (own / to.scale)).cast<float>();
    const Plane<float> of_other = (x * (factor.unit / to.scale)).cast<float>();
    const float both = static_cast<float>(own * (factor.unit / to.scale));
    const float *const a = of_own.data(), *const b = of_other.data();
    disturb(out, factor, to,
            [a, b, both](float* __restrict off, const float* __restrict from, const float* __restrict random,
                         const float* __restrict most, Index at, int count) {
              for (int k = 0; k < count; ++k) {
                off[k] = off[k] * (a[at + k] + both * from[k]) + from[k] * b[at + k] + most[k] * random[k];
              }
            });
  }
  Matrix with_noise(Matrix x, const Plane<double>& size) const { return with_noise(std::move(x), ScaledPlane(size)); }
  Matrix with_noise(Matrix x, ScaledPlane size) const {
    const double own = x.unit;
    const ScaledPlane to = rounding_of(std::move(size), own);
    const float a = static_cast<float>(own / to.scale);
    disturb(
        x, x, to,
        [a](float* off, const float*, const float* __restrict random, const float* __restrict most, Index, int count) {
          for (int k = 0; k < count; ++k) off[k] = a * off[k] + most[k] * random[k];
        });
    return x;
  }
  Matrix rounded(Matrix x, double relative, double absolute) const {
    if (relative == 0) return x;
    const Plane<double> size = relative * x.v.abs() + absolute;
    return with_noise(std::move(x), size);
  }
  // An operand is rounded alike by every product that reads it: the disturbance is a function of the number.
  Matrix narrowed(const Matrix& x) const {
    Matrix out = x.v;
    const ScaledPlane to =
        rounding_of(ScaledPlane(model_.operand_roundoff * x.v.abs() + model_.operand_underflow), x.unit);
    spread(out, x, to.scale);
    for (Index r = 0; r < runs(); ++r) {
      const Uniform& numbers = generators_[static_cast<std::size_t>(r)];
      float* const off = out.off.data() + r * x.size();
      for (Index k = 0; k < x.size(); ++k) {
        const double run = x.v.data()[k] + (x.certain() ? 0 : x.unit * static_cast<double>(x.off_run(r)[k]));
        off[k] += to.values.data()[k] * static_cast<float>(numbers.of(run, 0));
      }
    }
    return out;
  }

  Matrix dot(const Matrix& x, const Matrix& y) const {
    std::optional<UndisturbedDot> own;
    if (dots_ == nullptr) {
      UndisturbedSums sums;
      sums.add(x.v, y.v);
      own = sums.dot(model_);
    }
    const UndisturbedDot& undisturbed = own ? *own : next_dot();
    Matrix out = undisturbed.value;
    const Index rows = x.rows(), inner = x.cols(), cols = y.cols();
    if (!x.certain() || !y.certain()) out.off.resize(runs() * rows, cols);
    // x' y' - x y = (x' - x) y' + x (y' - y)
    if (!x.certain() && y.certain()) {
      out.unit = x.unit * y.as_floats().scale;
      dense_product(
          Product<float>{x.off.data(), y.as_floats().values.data(), out.off.data(), runs() * rows, inner, cols});
    } else if (!y.certain()) {
      const double scale = std::max(power_of_two_below(largest_of(y.v)), std::numeric_limits<double>::min());
      out.unit = x.certain() ? y.unit * x.as_floats().scale : x.unit * scale;
      const Plane<float> left = (x.v * (y.unit / out.unit)).cast<float>();
      for (Index r = 0; r < runs(); ++r) {
        float* const to = out.off.data() + r * rows * cols;
        dense_product(Product<float>{left.data(), y.off_run(r), to, rows, inner, cols});
        if (x.certain()) continue;
        const Plane<float> right = (y.run(r) / scale).cast<float>();
        dense_product(Product<float>{x.off_run(r), right.data(), to, rows, inner, cols, false, true});
      }
    }
    return with_noise(std::move(out), undisturbed.deviation);
  }
  const UndisturbedDot& next_dot() const { return dots_->at(dots_done_++); }

  // f of every run, from the value and the derivatives of f where no run is disturbed.
  template <class Function, class Slopes>
  Matrix activated(const Matrix& x, Plane<double> value, Function function, Slopes derivatives) const {
    Matrix out = std::move(value);
    if (x.certain()) return out;
    // What follows the third derivative is below 2^-39 of the first: (2^-13)^3, both functions having derivatives of
    // about the size of their slope at most.
    constexpr double kNear = 0x1p-13;
    spread(out, x, x.unit);
    if (out.off.abs().maxCoeff<Eigen::PropagateNaN>() * static_cast<float>(x.unit / kNear) <= 1) {
      Plane<float> first(x.rows(), x.cols()), second = first, third = first;
      for (Index k = 0; k < x.size(); ++k) {
        const Derivatives d = derivatives(out.v.data()[k]);
        first.data()[k] = static_cast<float>(d.first);
        second.data()[k] = static_cast<float>(d.second / 2 * x.unit);
        third.data()[k] = static_cast<float>(d.third / 6 * x.unit * x.unit);
      }
      for_each(out, [&](float& off, Index k, Index) {
        off *= first.data()[k] + off * (second.data()[k] + off * third.data()[k]);
      });
      return out;
    }
    const Plane<double> undisturbed = function(x.v);
    for (Index r = 0; r < runs(); ++r) {
      const Plane<double> off = (function(x.run(r)) - undisturbed) / x.unit;
      out.off.middleRows(r * x.rows(), x.rows()) = off.cast<float>();
    }
    return out;
  }

  RoundingModel model_;
  mutable std::vector<Uniform> generators_;  // of each run
  const std::vector<UndisturbedDot>* dots_;
  mutable std::size_t dots_done_ = 0;
  static inline const Exact<double> exact_{};
};

}  // namespace backgauge
