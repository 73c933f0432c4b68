// SPDX-License-Identifier: Apache-2.0
#include "reference/deviation.h"

#include <algorithm>
#include <cmath>

namespace backgauge {
namespace {

// To first order deviations are proportional to u. Where u is that of the double the noise is computed in, the noise is
// made with a larger one and scaled back.
double scale_of(const RoundingModel& model) {
  return model.unit_roundoff < 0x1p-24 ? 0x1p-24 / model.unit_roundoff : 1;
}

RoundingModel scaled(RoundingModel model) {
  const double scale = scale_of(model);
  model.unit_roundoff *= scale;
  model.least_normal *= scale;
  return model;
}

// How many runs are made at a time: the matrices of one step should stay in a cache, and they are kept for every step.
Index runs_at_a_time(const Extents& e, Index runs) {
  constexpr double kBytes = 256.0 * 1024;
  const double step = sizeof(double) * static_cast<double>(e.B * (e.H + e.I) + 1);
  return std::clamp<Index>(static_cast<Index>(kBytes / step), 1, runs);
}

Flat variances(const Problem& problem, const RoundingModel& model) {
  return flatten(Variance(model), problem, [](const Spread& part, Index k) { return part.q.data()[k]; });
}

// Raises `variance` to the mean square of what the runs are off by.
void raise_by_noise(Flat& variance, const Problem& problem, const RoundingModel& model) {
  // With 24 runs the chance that their root mean square is below a third of the deviation is 2e-9.
  constexpr Index kRuns = 24;
  Flat squares = variance;
  for (auto& tensor : squares) std::fill(tensor.begin(), tensor.end(), 0.0);
  const Index most = runs_at_a_time(problem.extents, kRuns);
  for (Index done = 0; done < kRuns; done += most) {
    const Index runs = std::min(most, kRuns - done);
    const auto square_sum = [runs](const Noisy& part, Index k) {
      double square = 0;
      for (Index r = 0; r < runs; ++r) {
        const double off = part.run(r)[k] - part.v.data()[k];
        square += off * off;
      }
      return square;
    };
    const Flat some = flatten(Noise(model, runs, static_cast<std::uint64_t>(done)), problem, square_sum);
    for (std::size_t t = 0; t < some.size(); ++t) {
      for (std::size_t k = 0; k < some[t].size(); ++k) squares[t][k] += some[t][k];
    }
  }
  for (std::size_t t = 0; t < variance.size(); ++t) {
    for (std::size_t k = 0; k < variance[t].size(); ++k) {
      variance[t][k] = std::max(variance[t][k], squares[t][k] / kRuns);
    }
  }
}

Flat roots(Flat variance, double scale) {
  for (auto& tensor : variance) {
    for (double& value : tensor) value = std::sqrt(value) / scale;
  }
  return variance;
}

// Whether half of the elements of some output would gain a bit or more.
bool worthwhile(const Flat& variance, const Flat& bound, double scale) {
  constexpr double kLeastGain = 2;
  for (std::size_t t = 0; t < variance.size(); ++t) {
    std::size_t counted = 0, gaining = 0;
    for (std::size_t k = 0; k < variance[t].size(); ++k) {
      if (bound[t][k] == 0) continue;
      ++counted;
      const double likely = kLeastGain * kDeviations * std::sqrt(variance[t][k]) / scale;
      if (!(likely > bound[t][k])) ++gaining;  // a bound that overflowed is not a number
    }
    if (counted > 0 && 2 * gaining >= counted) return true;
  }
  return false;
}

}  // namespace

Flat deviations(const Problem& problem, const RoundingModel& model) {
  const RoundingModel larger = scaled(model);
  Flat variance = variances(problem, larger);
  raise_by_noise(variance, problem, larger);
  return roots(std::move(variance), scale_of(model));
}

Flat deviations_below(const Problem& problem, const RoundingModel& model, const Flat& bound) {
  const RoundingModel larger = scaled(model);
  Flat variance = variances(problem, larger);
  if (!worthwhile(variance, bound, scale_of(model))) return {};
  raise_by_noise(variance, problem, larger);
  return roots(std::move(variance), scale_of(model));
}

}  // namespace backgauge
