// SPDX-License-Identifier: Apache-2.0
// A matrix and several runs of it that random roundings have disturbed. A run is stored as its difference from the
// undisturbed matrix, in floats: a disturbance need not be known to more digits.
#pragma once

#include "reference/arithmetic/cached.h"
#include "reference/arithmetic/scaled_plane.h"

namespace backgauge {

struct Noisy {
  Plane<double> v;       // undisturbed
  Plane<float> off;      // one run after the other, [runs * rows, cols], in units; empty where no run differs
  double unit = 0;       // a power of two; 0 where no run differs
  Plane<double> square;  // for an output, which has no `off`: sum of the squares of its differences

  Noisy() = default;
  Noisy(Plane<double> values) : v(std::move(values)) {}  // NOLINT(google-explicit-constructor): an exact matrix
  Noisy(Plane<double> values, Plane<float> offs, double its_unit)
      : v(std::move(values)), off(std::move(offs)), unit(its_unit) {}

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
  bool is_exact() const { return off.size() == 0; }
  const float* off_run(Index r) const { return off.data() + r * v.size(); }
  // The disturbed matrix of run r.
  Plane<double> run(Index r) const {
    if (is_exact()) return v;
    return v + unit * Eigen::Map<const Plane<float>>(off_run(r), rows(), cols()).cast<double>();
  }
  double square_sum(Index k, Index runs) const {
    if (square.size() > 0) return square.data()[k];
    if (is_exact()) return 0;
    double sum = 0;
    for (Index r = 0; r < runs; ++r) {
      const double x = unit * static_cast<double>(off_run(r)[k]);
      sum += x * x;
    }
    return sum;
  }
  const ScaledPlane& as_floats() const {
    return floats_.get([this] { return ScaledPlane(v); });
  }

 private:
  Cached<ScaledPlane> floats_;
};

}  // namespace backgauge
