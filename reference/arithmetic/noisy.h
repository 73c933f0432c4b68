// SPDX-License-Identifier: Apache-2.0
// A matrix and several runs of it that random roundings have disturbed. A run is stored as its difference from the
// undisturbed matrix, in floats: a disturbance need not be known to more digits.
#pragma once

#include <memory>
#include <utility>

#include "reference/arithmetic/scaled_plane.h"

namespace backgauge {

class Noisy {
 public:
  Plane<float> off;  // one run after the other, [runs * rows, cols], in units; empty where no run differs
  double unit = 0;   // a power of two; 0 where no run differs

  Noisy() = default;
  Noisy(Plane<double> values)  // NOLINT(google-explicit-constructor): an exact matrix
      : Noisy(shared(std::move(values))) {}
  explicit Noisy(SharedPlane values) : rows_(values->rows()), cols_(values->cols()), v_(std::move(values)) {}
  Noisy(Plane<double> values, Plane<float> offs, double its_unit) : Noisy(std::move(values)) {
    off = std::move(offs);
    unit = its_unit;
  }
  // Without undisturbed values, where nothing reads them.
  Noisy(Index rows, Index cols) : rows_(rows), cols_(cols) {}
  // An output: of its runs, only the sum of the squares of their differences is left.
  static Noisy of_squares(Plane<double> squares) {
    Noisy out(std::move(squares));
    out.is_squares_ = true;
    return out;
  }

  const Plane<double>& v() const { return *v_; }  // undisturbed
  const SharedPlane& shared_v() const { return v_; }
  // values: of the same shape.
  void set_v(SharedPlane values) {
    v_ = std::move(values);
    floats_ = nullptr;
    largest_ = -1;
  }
  void drop_v() { v_ = nullptr; }
  bool has_v() const { return v_ != nullptr; }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  bool is_exact() const { return off.size() == 0; }
  const float* off_run(Index r) const { return off.data() + r * size(); }
  // The disturbed matrix of run r.
  Plane<double> run(Index r) const {
    if (is_exact()) return v();
    return v() + unit * Eigen::Map<const Plane<float>>(off_run(r), rows(), cols()).cast<double>();
  }
  // `sum` and the squares of the differences of element k, added one after the other.
  double square_sum(Index k, Index runs, double sum = 0) const {
    if (is_squares_) return sum + v().data()[k];
    if (is_exact()) return sum;
    for (Index r = 0; r < runs; ++r) {
      const double x = unit * static_cast<double>(off_run(r)[k]);
      sum += x * x;
    }
    return sum;
  }
  // v() as floats, and its largest finite number: computed once. Not for several threads.
  const ScaledPlane& as_floats() const {
    if (floats_ == nullptr) floats_ = std::make_shared<const ScaledPlane>(v());
    return *floats_;
  }
  double largest() const {
    if (largest_ < 0) largest_ = largest_of(v());
    return largest_;
  }
  // floats: those of v(), from another object.
  void set_floats(std::shared_ptr<const ScaledPlane> floats) { floats_ = std::move(floats); }

 private:
  Index rows_ = 0, cols_ = 0;
  SharedPlane v_;  // it does not change once it is made
  bool is_squares_ = false;
  mutable std::shared_ptr<const ScaledPlane> floats_;
  mutable double largest_ = -1;  // not known yet
};

}  // namespace backgauge
