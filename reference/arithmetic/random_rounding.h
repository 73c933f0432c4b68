// SPDX-License-Identifier: Apache-2.0
// Results that every run rounds in its own way: by a random number of the run, uniform within the largest rounding of
// the undisturbed result.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/arithmetic/noisy_runs.h"
#include "reference/arithmetic/roundings.h"
#include "reference/arithmetic/uniform.h"

namespace backgauge {

class RandomRounding : public NoisyRuns {
 protected:
  // Runs first_run to first_run + runs - 1 of a larger number. The random numbers of a run depend only on its number,
  // not on which runs are computed together.
  RandomRounding(const RoundingModel& model, Index runs, std::uint64_t first_run) : NoisyRuns(runs), model_(model) {
    for (Index r = 0; r < runs; ++r) generators_.emplace_back(first_run + static_cast<std::uint64_t>(r));
  }
  const RoundingModel& model() const { return model_; }

  // out + term and out * factor, rounded.
  void add(Matrix& out, const Matrix& term) const {
    const double own = out.unit;
    out.set_v(shared(out.v() + term.v()));
    const ScaledPlane to =
        rounding_of(ScaledPlane(model_.unit_roundoff * out.v().abs() + model_.least_normal), std::max(own, term.unit));
    const float a = static_cast<float>(own / to.scale), b = static_cast<float>(term.unit / to.scale);
    disturb(out, term, to,
            [a, b](float* __restrict off, const float* __restrict from, const float* __restrict random,
                   const float* __restrict most, Index, int count) {
              for (int k = 0; k < count; ++k) off[k] = a * off[k] + b * from[k] + most[k] * random[k];
            });
  }
  void multiply(Matrix& out, const Matrix& factor) const {  // (x+d)(y+e) - xy = d y + e x + d e
    const double own = out.unit;
    const SharedPlane kept = out.shared_v();
    const Plane<double>& x = *kept;
    const double largest = out.largest();
    out.set_v(shared(x * factor.v()));
    const ScaledPlane to =
        rounding_of(ScaledPlane(model_.unit_roundoff * out.v().abs() + model_.least_normal),
                    std::max(own * power_of_two_below(factor.largest()), factor.unit * power_of_two_below(largest)));
    const Plane<float> of_own = (factor.v() * (own / to.scale)).cast<float>();
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
  // size: an expression, as for largest_of().
  template <class Values>
  Matrix with_noise(Matrix x, const Eigen::ArrayBase<Values>& size) const {
    return with_noise(std::move(x), ScaledPlane(size.derived()));
  }
  Matrix with_noise(Matrix x, const ScaledPlane& size) const {
    const bool as_it_is = unit_of(size, x.unit) == size.scale;  // nearly always: it need not be copied
    if (as_it_is) {
      add_noise(x, size);
    } else {
      add_noise(x, rounding_of(size, x.unit));
    }
    return x;
  }
  Matrix rounded(Matrix x, double relative, double absolute) const {
    if (relative == 0) return x;
    const SharedPlane kept = x.shared_v();  // while x is moved
    return with_noise(std::move(x), relative * kept->abs() + absolute);
  }
  // Every product rounds an operand in the same way, so the disturbance is a function of its value.
  Matrix narrowed(const Matrix& x) const {
    Matrix out(x.shared_v());
    const ScaledPlane to =
        rounding_of(ScaledPlane(model_.operand_roundoff * x.v().abs() + model_.operand_underflow), x.unit);
    spread(out, x, to.scale);
    for (Index r = 0; r < runs(); ++r) {
      const Uniform& numbers = generators_[static_cast<std::size_t>(r)];
      float* const off = out.off.data() + r * x.size();
      for (Index k = 0; k < x.size(); ++k) {
        const double run = x.v().data()[k] + (x.is_exact() ? 0 : x.unit * static_cast<double>(x.off_run(r)[k]));
        off[k] += to.values.data()[k] * static_cast<float>(numbers.of(run, 0));
      }
    }
    return out;
  }

  // The declared error of an activation y. It is a function of the argument, so that within each of so many intervals
  // it has one sign, which every run draws. place: the argument in intervals. bounds.md 6.2
  static constexpr int kIntervals = 32, kTanh = 1, kSigmoid = 2;
  Matrix with_error(Matrix y, const Plane<double>& place, const ActivationError& error, int function) const {
    if (!error.is_declared()) return y;
    const Plane<double>& v = y.v();
    const ScaledPlane to = rounding_of(
        ScaledPlane(Plane<double>((v == 0).select(0.0, error.absolute + error.relative * v.abs()))), y.unit);
    Matrix out(y.shared_v());
    spread(out, y, to.scale);
    const Plane<double> interval = place.floor().max(-kIntervals / 2).min(kIntervals / 2 - 1);
    for (Index r = 0; r < runs(); ++r) {
      const Uniform& numbers = generators_[static_cast<std::size_t>(r)];
      float* const off = out.off.data() + r * y.size();
      for (Index k = 0; k < y.size(); ++k) {
        const bool is_below = numbers.of(interval.data()[k], function) < 0;
        off[k] += is_below ? -to.values.data()[k] : to.values.data()[k];
      }
    }
    return out;
  }

 private:
  static constexpr std::array<float, Uniform::kMost> kZeros{};

  // The largest roundings of results, in units. The unit follows from the roundings, not from the disturbances of the
  // operands: over many steps it would drift away from the differences, by the size of the weights in each step.
  // Floats can hold 2^60 units, and their squares.
  static double unit_of(const ScaledPlane& size, double of_operands) {
    return std::max(of_operands * 0x1p-60, size.scale);
  }
  static ScaledPlane rounding_of(ScaledPlane size, double of_operands) {
    const double unit = unit_of(size, of_operands);
    if (unit > size.scale) size.values *= static_cast<float>(size.scale / unit);
    size.scale = unit;
    return size;
  }
  void add_noise(Matrix& x, const ScaledPlane& rounding) const {
    const float a = static_cast<float>(x.unit / rounding.scale);
    disturb(
        x, x, rounding,
        [a](float* off, const float*, const float* __restrict random, const float* __restrict most, Index, int count) {
          for (int k = 0; k < count; ++k) off[k] = a * off[k] + most[k] * random[k];
        });
  }
  // change(to, from, random, most, at, count) for pieces of every run; `from`: the differences of `other` there.
  template <class Change>
  void disturb(Matrix& out, const Matrix& other, const ScaledPlane& rounding, Change change) const {
    if (out.is_exact()) out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    out.unit = rounding.scale;
    const Index size = out.size();
    for (Index r = 0; r < runs(); ++r) {
      for (Index at = 0; at < size; at += Uniform::kMost) {
        const int count = static_cast<int>(std::min<Index>(Uniform::kMost, size - at));
        const float* const from = other.is_exact() ? kZeros.data() : other.off_run(r) + at;
        change(out.off.data() + r * size + at, from, generators_[static_cast<std::size_t>(r)].next(count),
               rounding.values.data() + at, at, count);
      }
    }
  }
  RoundingModel model_;
  mutable std::vector<Uniform> generators_;  // of each run
};

}  // namespace backgauge
