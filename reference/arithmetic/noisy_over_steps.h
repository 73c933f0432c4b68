// SPDX-License-Identifier: Apache-2.0
// Sums over steps in the arithmetic of random rounding (over_steps.h): what every run makes of a step is added to one
// sum, so that steps need not be kept for all runs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference/arithmetic/noise.h"
#include "reference/arithmetic/over_steps.h"

namespace backgauge {

class NoisyProductOverSteps {
 public:
  using Kept = std::shared_ptr<const Noisy>;

  NoisyProductOverSteps(const Noise& a, std::size_t steps)
      : a_(a), left_(static_cast<std::size_t>(a.runs())), right_(left_.size()) {
    if (a.dots_ == nullptr) undisturbed_.emplace(exact_, steps);
  }

  void add(std::size_t step, const Kept& x, const Kept& y) {
    m_ = x->cols();
    n_ = y->cols();
    if (undisturbed_) {
      undisturbed_->first.add(step, std::make_shared<const Plane<double>>(x->v));
      undisturbed_->second.add(step, std::make_shared<const Plane<double>>(y->v));
    }
    if (a_.model_.operand_roundoff == 0) {
      enqueue(*x, *y);
    } else {
      enqueue(a_.narrowed(*x), a_.narrowed(*y));
    }
  }
  Noisy total() {
    multiply_queue();
    Noisy out = Plane<double>(m_, n_);
    Plane<double> size(m_, n_);
    if (undisturbed_) {
      const UndisturbedDot dot(a_.model_, undisturbed_->first.all().transpose(), undisturbed_->second.all());
      out.v = dot.value;
      size = dot.variance.sqrt();
    } else {
      for (const auto& part : ProductPart::all(m_, n_)) {
        const UndisturbedDot& dot = a_.next_dot();
        out.v.block(part.row, part.column, part.rows, part.columns) = dot.value;
        size.block(part.row, part.column, part.rows, part.columns) = dot.variance.sqrt();
      }
    }
    out.off = std::move(sums_);
    out.unit = unit_;
    return a_.with_noise(std::move(out), size);
  }

 private:
  // Rows that are multiplied at once: a product of so many terms is fast, and two of them still fit into a cache.
  static constexpr Index kQueued = 256;

  // x'^T y' - x^T y = (x' - x)^T y' + x^T (y' - y): two rows of the queue for one.
  void enqueue(const Noisy& x, const Noisy& y) {
    if ((x.certain() && y.certain()) || m_ == 0 || n_ == 0) return;
    const ScaledPlane x_floats(x.v);
    const double y_scale = ScaledPlane(y.v).scale;
    const double of_x = x.unit * y_scale, of_y = y.unit * x_floats.scale;
    if (unit_ == 0) {
      unit_ = std::max(of_x, of_y);
      sums_ = Plane<float>::Zero(a_.runs() * m_, n_);
    }
    for (Index r = 0; r < a_.runs(); ++r) {
      std::vector<float>&left = left_[static_cast<std::size_t>(r)], &right = right_[static_cast<std::size_t>(r)];
      if (!x.certain()) {
        append(left, a_.block(x, r) * static_cast<float>(of_x / unit_));
        append(right, (y.run(r) / y_scale).cast<float>());
      }
      if (!y.certain()) {
        append(left, x_floats.values);
        append(right, a_.block(y, r) * static_cast<float>(of_y / unit_));
      }
    }
    queued_ += x.rows() * ((x.certain() ? 0 : 1) + (y.certain() ? 0 : 1));
    if (queued_ >= kQueued) multiply_queue();
  }
  template <class Expression>
  static void append(std::vector<float>& to, const Expression& rows) {
    const std::size_t at = to.size();
    to.resize(at + static_cast<std::size_t>(rows.size()));
    Eigen::Map<Plane<float>>(to.data() + at, rows.rows(), rows.cols()) = rows;
  }
  void multiply_queue() {
    if (queued_ == 0) return;
    for (Index r = 0; r < a_.runs(); ++r) {
      std::vector<float>&left = left_[static_cast<std::size_t>(r)], &right = right_[static_cast<std::size_t>(r)];
      dense_product(Product<float>{left.data(), right.data(), sums_.data() + r * m_ * n_, m_, queued_, n_, true, true});
      left.clear();
      right.clear();
    }
    queued_ = 0;
  }

  using Values = std::pair<GatheredSteps<Exact<double>>, GatheredSteps<Exact<double>>>;
  struct BothValues : Values {
    BothValues(const Exact<double>& exact, std::size_t steps) : Values{{exact, steps}, {exact, steps}} {}
  };

  const Noise& a_;
  Index m_ = 0, n_ = 0, queued_ = 0;
  double unit_ = 0;
  std::vector<std::vector<float>> left_, right_;  // per run: [queued, m], [queued, n]
  Plane<float> sums_;                             // [runs * m, n], in units
  std::optional<BothValues> undisturbed_;         // where Variance has not computed the product
  static inline const Exact<double> exact_{};
};

class NoisySumOverSteps {
 public:
  NoisySumOverSteps(const Noise& a, std::size_t /*steps*/) : a_(a) {}

  void add(std::size_t /*step*/, const std::shared_ptr<const Noisy>& x) {
    if (rows_ == 0) value_ = squares_ = Plane<double>::Zero(1, x->cols());
    rows_ += x->rows();
    value_ += x->v.colwise().sum();
    squares_ += x->v.square().colwise().sum();
    if (x->certain()) return;
    if (off_.size() == 0) off_ = Plane<double>::Zero(a_.runs(), x->cols());
    for (Index r = 0; r < a_.runs(); ++r) {
      off_.row(r) += x->unit * a_.block(*x, r).colwise().sum().template cast<double>();
    }
  }
  Noisy total() const {
    Noisy out = value_;
    if (off_.size() > 0) {
      const ScaledPlane off(off_);
      out.off = off.values;
      out.unit = off.scale;
    }
    return a_.with_noise(std::move(out), sum_variance(a_.model_, static_cast<double>(rows_), squares_, value_).sqrt());
  }

 private:
  const Noise& a_;
  Index rows_ = 0;
  Plane<double> value_, squares_;  // [1, n]: sums of the undisturbed values and of their squares
  Plane<double> off_;              // [runs, n]
};

}  // namespace backgauge
