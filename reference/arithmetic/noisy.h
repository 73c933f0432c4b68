// SPDX-License-Identifier: Apache-2.0
// A matrix and several runs of it that random roundings have moved. Runs are kept by what they are off by, as floats: a
// disturbance need not be known to more digits.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "reference/arithmetic/exact.h"

namespace backgauge {

// The largest power of two that is not above x; 0 of what has none.
inline double power_of_two_below(double x) {
  return x > 0 && x <= std::numeric_limits<double>::max() ? std::ldexp(1, std::ilogb(x)) : 0;
}

// |x| of the largest finite element, 0 where there is none.
inline double largest_of(const Plane<double>& x) {
  double largest = 0;
  for (Index k = 0; k < x.size(); ++k) {
    const double size = std::abs(x.data()[k]);
    if (size > largest && size <= std::numeric_limits<double>::max()) largest = size;
  }
  return largest;
}

// Values as floats: divided by a power of two, so that the largest is about 1. Those 2^-126 times smaller vanish.
struct ScaledPlane {
  double scale;
  Plane<float> values;

  explicit ScaledPlane(const Plane<double>& of) : scale(power_of_two_below(largest_of(of))) {
    if (scale == 0) scale = 1;
    values = (of / scale).cast<float>();
  }
};

struct Noisy {
  Plane<double> v;       // undisturbed
  Plane<float> off;      // of one run below the other, [runs * rows, cols], in units; empty where no run is off
  double unit = 0;       // a power of two; 0 where no run is off
  Plane<double> square;  // of an output, which has no `off`: sum over runs of what they are off by, squared

  Noisy() = default;
  Noisy(Plane<double> values) : v(std::move(values)) {}  // NOLINT(google-explicit-constructor): a certain matrix
  Noisy(Plane<double> values, Plane<float> offs, double its_unit)
      : v(std::move(values)), off(std::move(offs)), unit(its_unit) {}

  Index rows() const { return v.rows(); }
  Index cols() const { return v.cols(); }
  Index size() const { return v.size(); }
  bool certain() const { return off.size() == 0; }
  const float* off_run(Index r) const { return off.data() + r * v.size(); }
  // Run r itself.
  Plane<double> run(Index r) const {
    if (certain()) return v;
    return v + unit * Eigen::Map<const Plane<float>>(off_run(r), rows(), cols()).cast<double>();
  }
  double square_sum(Index k, Index runs) const {
    if (square.size() > 0) return square.data()[k];
    if (certain()) return 0;
    double sum = 0;
    for (Index r = 0; r < runs; ++r) {
      const double x = unit * static_cast<double>(off_run(r)[k]);
      sum += x * x;
    }
    return sum;
  }
  // The values as floats. Weights are asked for them at every step: they are kept, but not in copies, whose values may
  // change.
  const ScaledPlane& as_floats() const {
    if (!floats_.kept) floats_.kept = std::make_shared<const ScaledPlane>(v);
    return *floats_.kept;
  }

 private:
  struct Floats {
    std::shared_ptr<const ScaledPlane> kept;
    Floats() = default;
    Floats(const Floats&) {}
    Floats& operator=(const Floats&) {
      kept.reset();
      return *this;
    }
  };
  mutable Floats floats_;
};

}  // namespace backgauge
