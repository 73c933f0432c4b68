// SPDX-License-Identifier: Apache-2.0
// The arithmetic of random rounding: plain values and several runs, in each of which every result of an operation is
// disturbed as a rounding would. They show the joint effect of roundings through shared sub-expressions, which
// variance.h takes as independent. bounds.md 6.
//
// Every operation computes the disturbance of its result from those of its operands, up to the order that matters, and
// adds its own rounding. No differences of nearly equal numbers are taken, so floats are enough. The size of a rounding
// follows from the undisturbed result. An operation handles all runs at once: a product with a matrix that no run
// disturbs is one product. Undisturbed products that Variance has computed for the same problem are used again.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "reference/arithmetic/random_rounding.h"
#include "reference/arithmetic/undisturbed_values.h"
#include "reference/arithmetic/variance.h"

namespace backgauge {

class NoisyProductOverSteps;
class NoisySumOverSteps;

// What is left of an output: the squares of the differences of all runs, or the differences, whose squares can be added
// to those of other runs one after the other.
enum class OfOutputs { kSquares, kDifferences };

class Noise : public PlaneArithmetic<Noise, Noisy>, public RandomRounding {
 public:
  using Matrix = Noisy;
  using ProductOverSteps = NoisyProductOverSteps;
  using SumOverSteps = NoisySumOverSteps;

  // As RandomRounding. dots: those of Variance for the same problem and model; an object evaluates the problem once
  // then. values: of all objects that evaluate the problem with this model. nullptr: they are computed again.
  Noise(const RoundingModel& model, Index runs, std::uint64_t first_run,
        const std::vector<UndisturbedDot>* dots = nullptr, UndisturbedValues* values = nullptr,
        OfOutputs kept = OfOutputs::kSquares)
      : RandomRounding(model, runs, first_run), dots_(dots), values_(values), kept_(kept) {}

  Matrix recomputable(const double* values, Index rows, Index cols) const {
    Matrix out = rounded(input(values, rows, cols), model().recomputed_co, 0);
    if (model().recomputed_co == 0) return out;
    const SharedPlane co = out.shared_v();  // while `out` is moved
    return with_error(std::move(out), kIntervals / 2 * *co, model().tanh_error, kTanh);
  }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    const double u = model().unit_roundoff;
    return rounded(rounded(exact_.dropout_mask(keep, dropout, rows, cols), u, 0), u, 0);
  }

  Matrix negative(const Matrix& x) const { return {Plane<double>(-x.v()), Plane<float>(-x.off), x.unit}; }
  Matrix difference(const Matrix& x, const Matrix& y) const { return sum(x, negative(y)); }

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    return model().operand_roundoff == 0 ? dot(x, y) : dot(narrowed(x), narrowed(y));
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return sum(c, carried(matmul(x, y))); }
  Matrix column_sums(const Matrix& x) const {
    Matrix out = Plane<double>(x.v().colwise().sum());
    if (!x.is_exact()) {
      out.unit = x.unit;
      out.off.resize(runs(), x.cols());
      for (Index r = 0; r < runs(); ++r) out.off.row(r) = block(x, r).colwise().sum();
    }
    const Plane<double> squares = x.v().square().colwise().sum();
    const Plane<double> variance = sum_variance(model(), static_cast<double>(x.rows()), squares, out.v());
    return with_noise(std::move(out), variance.sqrt());
  }

  // The undisturbed values serve only for slopes and for sizes of roundings, so their errors of 2^-52 do not matter.
  // They are computed in forms that compilers vectorize.
  Matrix sigmoid(const Matrix& x) const {
    Matrix out = activated(
        x, [&] { return shared(1 / (1 + (-x.v()).exp())); }, [](const Plane<double>& at) { return exact_.sigmoid(at); },
        [](double s) {
          const double slope = s * (1 - s), bend = slope * (1 - 2 * s);
          return Derivatives{slope, bend, slope * (1 - 6 * slope)};
        });
    const SharedPlane kept = out.shared_v();  // while `out` is moved
    out = with_noise(std::move(out),
                     4 * model().unit_roundoff * *kept + 2 * model().unit_roundoff + model().least_normal);
    return with_error(std::move(out), 2 * x.v(), model().sigmoid_error, kSigmoid);
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out = activated(
        x, [&] { return shared(1 - 2 / ((2 * x.v()).exp() + 1)); },
        [](const Plane<double>& at) { return exact_.tanh(at); },
        [](double t) {
          const double slope = 1 - t * t;
          return Derivatives{slope, -2 * t * slope, slope * (6 * t * t - 2)};
        });
    const SharedPlane kept = out.shared_v();
    out = with_noise(std::move(out), 4 * model().unit_roundoff * kept->abs() + model().least_normal);
    return with_error(std::move(out), 2 * x.v(), model().tanh_error, kTanh);
  }
  Matrix relu(const Matrix& x) const {
    Matrix out = exact_.relu(x.v());
    if (x.is_exact()) return out;
    out.unit = x.unit;
    out.off = x.off;
    const Plane<float> v = (x.v() / x.unit).cast<float>();
    for_each(out, [&](float& off, Index k, Index) {
      off = v.data()[k] > 0 ? std::max(off, -v.data()[k]) : std::max(v.data()[k] + off, 0.0f);
    });
    return out;
  }
  Matrix sigmoid_slope(const Matrix& s) const {  // (s+d)(1-s-d) - s(1-s) = d (1 - 2s - d)
    Matrix out{exact_.sigmoid_slope(s.v()), s.off, s.unit};
    const Plane<float> first = (1 - 2 * s.v()).cast<float>();
    const float unit = static_cast<float>(s.unit);
    for_each(out, [&](float& off, Index k, Index) { off *= first.data()[k] - unit * off; });
    return with_noise(std::move(out), model().unit_roundoff * s.v().abs() + model().least_normal);  // u (s(1-s) + s^2)
  }
  Matrix tanh_slope(const Matrix& t) const {  // t^2 - (t+d)^2 = -d (2t + d)
    Matrix out{exact_.tanh_slope(t.v()), t.off, t.unit};
    const Plane<float> first = (-2 * t.v()).cast<float>();
    const float unit = static_cast<float>(t.unit);
    for_each(out, [&](float& off, Index k, Index) { off *= first.data()[k] - unit * off; });
    const double size = model().unit_roundoff + model().least_normal;  // u (1-t^2 + t^2)
    return with_noise(std::move(out), Plane<double>::Constant(t.rows(), t.cols(), size));
  }
  Matrix where_positive(const Matrix& p, const Matrix& x) const {
    Matrix out = exact_.where_positive(p.v(), x.v(), model().relu_passes(0));
    if (p.is_exact() && x.is_exact()) return out;
    spread(out, x, std::max(x.unit, power_of_two_below(model().unit_roundoff * x.largest())));
    const Plane<float> v = (x.v() / out.unit).cast<float>();
    const Plane<float> gate =
        p.is_exact() ? Plane<float>(p.v().cast<float>()) : Plane<float>((p.v() / p.unit).cast<float>());
    for_each(out, [&](float& off, Index k, Index r) {
      const float moved = p.is_exact() ? 0 : p.off_run(r)[k];
      const bool was_open = model().relu_passes(p.v().data()[k]);
      const bool is_open = p.is_exact() ? was_open : model().relu_passes(gate.data()[k] + moved);
      if (is_open) {
        if (!was_open) off += v.data()[k];
      } else {
        off = was_open ? -v.data()[k] : 0;
      }
    });
    return out;
  }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    const Matrix kept = product(z, h);  // first: arguments are evaluated in an order that compilers choose
    return sum(product(sum(ones(z.rows(), z.cols()), negative(z)), n), kept);
  }
  Matrix clip(const Matrix& x, double limit) const {
    Matrix out = exact_.clip(x.v(), limit);
    if (x.is_exact()) return out;
    spread(out, x, x.unit);
    if (!(limit > 0)) return out;
    for_each(out, [&](float& off, Index k, Index) {
      const double run = x.v().data()[k] + x.unit * static_cast<double>(off);
      off = static_cast<float>((std::min(std::max(run, -limit), limit) - out.v().data()[k]) / x.unit);
    });
    return out;
  }
  Matrix carried(const Matrix& x) const { return rounded(x, model().carry_roundoff, model().carry_underflow); }
  Matrix saved(Matrix x) const { return model().rounds_saved ? carried(x) : x; }
  bool rounds_saved() const { return model().rounds_saved; }

  // For a matrix that is kept for long: its undisturbed values are those that other objects keep too.
  Matrix kept(Matrix x) const {
    x.set_v(undisturbed([&] { return x.shared_v(); }));
    return x;
  }
  // For a matrix that is from now on only read as a factor of products of matrices, of which the right one is exact:
  // those read no undisturbed values, except where operands are narrowed.
  void only_left_factor(Matrix& x) const {
    if (reads_only_differences() && !x.is_exact()) x.drop_v();
  }
  Matrix right_factor(Matrix x) const {
    if (!reads_only_differences() || !x.is_exact()) return x;
    if (values_ == nullptr) {
      (void)x.as_floats();
    } else {
      x.set_floats(values_->floats(floats_done_++, [&] { return std::make_shared<const ScaledPlane>(x.v()); }));
    }
    x.drop_v();
    return x;
  }
  Matrix output(Matrix x) const {
    if (kept_ == OfOutputs::kDifferences) {
      x.drop_v();
      return x;
    }
    Plane<double> squares = Plane<double>::Zero(x.rows(), x.cols());
    for (Index r = 0; r < runs() && !x.is_exact(); ++r) squares += block(x, r).cast<double>().square();
    squares *= x.unit * x.unit;
    return Matrix::of_squares(std::move(squares));
  }

 private:
  friend NoisyProductOverSteps;
  friend NoisySumOverSteps;
  friend SumsAndProducts<Noise, Noisy>;
  friend PlaneArithmetic<Noise, Noisy>;

  static Matrix exactly(Plane<double> values) { return values; }
  Matrix sum_of(std::span<const Matrix* const> terms) const {
    Matrix out = *terms.front();
    for (const Matrix* term : terms.subspan(1)) add(out, *term);
    return out;
  }
  Matrix product_of(std::span<const Matrix* const> factors) const {
    (void)factors.front()->largest();  // so that the next product with it need not look for it again
    Matrix out = *factors.front();
    for (const Matrix* factor : factors.subspan(1)) multiply(out, *factor);
    return out;
  }

  struct Derivatives {
    double first, second, third;
  };
  Matrix dot(const Matrix& x, const Matrix& y) const {
    std::optional<UndisturbedDot> own;
    if (dots_ == nullptr) {
      UndisturbedSums sums;
      sums.add(x.v(), y.v());
      own = sums.dot(model());
    }
    const UndisturbedDot& product = own ? *own : next_dot();
    Matrix out = matrix_of(product);
    const Index rows = x.rows(), inner = x.cols(), cols = y.cols();
    if (!x.is_exact() || !y.is_exact()) out.off.resize(runs() * rows, cols);
    // x' y' - x y = (x' - x) y' + x (y' - y)
    if (!x.is_exact() && y.is_exact()) {
      out.unit = x.unit * y.as_floats().scale;
      dense_product(
          Product<float>{x.off.data(), y.as_floats().values.data(), out.off.data(), runs() * rows, inner, cols});
    } else if (!y.is_exact()) {
      const double scale = std::max(power_of_two_below(y.largest()), std::numeric_limits<double>::min());
      out.unit = x.is_exact() ? y.unit * x.as_floats().scale : x.unit * scale;
      const Plane<float> left = (x.v() * (y.unit / out.unit)).cast<float>();
      for (Index r = 0; r < runs(); ++r) {
        float* const to = out.off.data() + r * rows * cols;
        dense_product(Product<float>{left.data(), y.off_run(r), to, rows, inner, cols});
        if (x.is_exact()) continue;
        const Plane<float> right = (y.run(r) / scale).cast<float>();
        dense_product(Product<float>{x.off_run(r), right.data(), to, rows, inner, cols, false, true});
      }
    }
    return with_noise(std::move(out), product.deviation);
  }
  bool reads_only_differences() const { return dots_ != nullptr && model().operand_roundoff == 0; }
  const UndisturbedDot& next_dot() const { return dots_->at(dots_done_++); }
  static Matrix matrix_of(const UndisturbedDot& product) {
    if (product.value != nullptr) return Matrix(product.value);
    return {product.deviation.values.rows(), product.deviation.values.cols()};
  }
  template <class Make>
  SharedPlane undisturbed(const Make& make) const {
    return values_ == nullptr ? make() : values_->get(values_done_++, make);
  }

  // f for every run, from the undisturbed value and derivatives of f.
  template <class Value, class Function, class Slopes>
  Matrix activated(const Matrix& x, const Value& value, Function function, Slopes derivatives) const {
    Matrix out(undisturbed(value));
    if (x.is_exact()) return out;
    // The terms after the third derivative are below 2^-39 = (2^-13)^3 of the first: the higher derivatives of both
    // functions are at most about as large as their slope.
    constexpr double kNear = 0x1p-13;
    spread(out, x, x.unit);
    if (out.off.abs().maxCoeff<Eigen::PropagateNaN>() * static_cast<float>(x.unit / kNear) <= 1) {
      Plane<float> first(x.rows(), x.cols()), second = first, third = first;
      for (Index k = 0; k < x.size(); ++k) {
        const Derivatives d = derivatives(out.v().data()[k]);
        first.data()[k] = static_cast<float>(d.first);
        second.data()[k] = static_cast<float>(d.second / 2 * x.unit);
        third.data()[k] = static_cast<float>(d.third / 6 * x.unit * x.unit);
      }
      for_each(out, [&](float& off, Index k, Index) {
        off *= first.data()[k] + off * (second.data()[k] + off * third.data()[k]);
      });
      return out;
    }
    const Plane<double> at_x = function(x.v());
    for (Index r = 0; r < runs(); ++r) {
      const Plane<double> off = (function(x.run(r)) - at_x) / x.unit;
      out.off.middleRows(r * x.rows(), x.rows()) = off.cast<float>();
    }
    return out;
  }

  const std::vector<UndisturbedDot>* dots_;
  UndisturbedValues* values_;
  OfOutputs kept_;
  mutable std::size_t dots_done_ = 0, values_done_ = 0, floats_done_ = 0;
  static inline const Exact<double> exact_{};
};
static_assert(Arithmetic<Noise>);

}  // namespace backgauge
