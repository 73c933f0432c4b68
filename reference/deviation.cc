// SPDX-License-Identifier: Apache-2.0
#include "reference/deviation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace backgauge {
namespace {

// To first order, deviations are proportional to u. If u is that of double, in which the noise is computed, the noise
// is made with a larger u and scaled back.
double scale_of(const RoundingModel& model) {
  return model.unit_roundoff < 0x1p-24 ? 0x1p-24 / model.unit_roundoff : 1;
}

RoundingModel scaled(RoundingModel model) {
  const double scale = scale_of(model);
  model.unit_roundoff *= scale;
  model.least_normal *= scale;
  for (ActivationError* error : {&model.tanh_error, &model.sigmoid_error}) {
    error->absolute *= scale;
    error->relative *= scale;
  }
  return model;
}

// Bytes that an evaluation keeps for each run: the values of every step if it computes the states itself, and gradients
// of weights.
double kept_by_run(const Problem& problem) {
  const Extents& e = problem.extents;
  // For lstm seven planes of the forward pass, four of the backward pass, and the input of the layer.
  const double planes = spec_of(problem.op).has(Role::kSaved) ? 0 : 12;
  const double steps = planes * static_cast<double>(e.T * e.B * e.H * e.L * e.D);
  const double weights = 4.0 * static_cast<double>(e.H * (e.I + e.H)),
               step = static_cast<double>(e.B * (e.H + e.I) + 1);
  return sizeof(float) * (steps + weights + 16 * step);
}

// How many runs form a group, whose squares are added before they are added to those of other groups. The order decides
// the last bits of what is allowed, so a group has as many runs as were found to be fastest when they are evaluated
// together. The matrices of a small step should stay in a cache. Those of a large one do not, and a product with an
// unperturbed matrix is faster for many runs at once. A limit of 96 MiB for small steps too was tried on
// t50b32i256h256 of two bidirectional layers (AMD EPYC, AVX2): a third more time, a tenth less memory.
Index runs_of_group(const Problem& problem, Index runs) {
  constexpr double kCached = 256.0 * 1024, kKept = 192.0 * 1024 * 1024;
  const Extents& e = problem.extents;
  const double step = sizeof(float) * static_cast<double>(e.B * (e.H + e.I) + 1);
  const double at_once = std::max(kCached / step, std::min(kKept / kept_by_run(problem), 6.0));
  return std::clamp<Index>(static_cast<Index>(at_once), 1, runs);
}

// How many of them are evaluated together: as many as keep little memory. A smaller problem is not divided, since
// products of few rows have other bits (dense_product.cc).
Index runs_at_a_time(const Problem& problem, Index group) {
  constexpr double kKept = 40.0 * 1024 * 1024;
  constexpr Index kLeastRows = 8, kLeastUnits = 64;
  if (problem.extents.B < kLeastRows || problem.extents.H < kLeastUnits) return group;
  return std::clamp<Index>(static_cast<Index>(kKept / kept_by_run(problem)), 1, group);
}

// Calls task(0) .. task(count - 1), for a large problem on all cores.
template <class Task>
void for_each_of(Index count, const Problem& problem, const Task& task) {
  const Index threads = is_large(problem) ? std::min<Index>(count, std::thread::hardware_concurrency()) : 1;
  std::atomic<Index> next{0};
  const auto work = [&] {
    for (Index k = next++; k < count; k = next++) task(k);
  };
  std::vector<std::future<void>> others;
  for (Index t = 1; t < threads; ++t) others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
}

// Runs that are evaluated together: a group, or a part of one.
struct Piece {
  Index first, runs;
  bool is_group, ends_group;
};

std::vector<Piece> pieces_of(const Problem& problem, Index runs) {
  const Index group = runs_of_group(problem, runs), most = runs_at_a_time(problem, group);
  std::vector<Piece> pieces;
  for (Index first = 0; first < runs;) {
    const Index begin = first / group * group, end = std::min(begin + group, runs), count = std::min(most, end - first);
    pieces.push_back({first, count, count == end - begin, first + count == end});
    first += count;
  }
  return pieces;
}

// Sums over all runs of the squares of their differences. Pieces are added in their order, whichever ends first.
class SquareSums {
 public:
  // outputs: of the piece whose turn it is.
  void add(Index turn, const Piece& piece, std::vector<Evaluated<Noisy>> outputs) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == turn || abandoned_; });
    if (abandoned_) return;
    if (of_group_.empty()) of_group_.resize(outputs.size());
    for (std::size_t t = 0; t < outputs.size(); ++t) add(of_group_[t], outputs[t].parts, piece.runs);
    if (piece.ends_group) end_group();
    ++next_;
    changed_.notify_all();
  }
  // A piece that the others wait for has failed.
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }
  const OutputNumbers& all() const { return all_; }

 private:
  // Parts are released as they are added.
  static void add(std::vector<double>& sums, std::vector<Noisy>& parts, Index runs) {
    if (sums.empty()) {
      Index count = 0;
      for (const Noisy& part : parts) count += part.size();
      sums.resize(static_cast<std::size_t>(count));
    }
    auto sum = sums.begin();
    for (Noisy& part : parts) {
      for (Index k = 0; k < part.size(); ++k, ++sum) *sum = part.square_sum(k, runs, *sum);
      part = Noisy();
    }
  }
  void end_group() {
    if (all_.empty()) {
      all_ = std::exchange(of_group_, {});
      return;
    }
    for (std::size_t t = 0; t < all_.size(); ++t) {
      for (std::size_t k = 0; k < all_[t].size(); ++k) all_[t][k] += std::exchange(of_group_[t][k], 0);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Index next_ = 0;
  bool abandoned_ = false;
  OutputNumbers of_group_, all_;
};

// The variance, raised to the mean square error of the runs.
OutputNumbers raised_by_noise(FirstEstimate first, const Problem& problem, const RoundingModel& model) {
  // With 24 runs the chance that their root mean square is below a third of the deviation is 2e-9.
  constexpr Index kRuns = 24;
  const std::vector<Piece> pieces = pieces_of(problem, kRuns);
  UndisturbedValues values;
  SquareSums squares;
  for_each_of(static_cast<Index>(pieces.size()), problem, [&](Index turn) {
    const Piece& piece = pieces[static_cast<std::size_t>(turn)];
    try {
      const Noise noise(model, piece.runs, static_cast<std::uint64_t>(piece.first), &first.dots,
                        pieces.size() > 1 ? &values : nullptr,
                        piece.is_group ? OfOutputs::kSquares : OfOutputs::kDifferences);
      squares.add(turn, piece, evaluate(noise, problem));
    } catch (...) {
      squares.abandon();
      throw;
    }
  });
  const OutputNumbers& sum = squares.all();
  OutputNumbers variance = std::move(first.variance);
  for (std::size_t t = 0; t < variance.size(); ++t) {
    for (std::size_t k = 0; k < variance[t].size(); ++k) {
      const double square = sum[t][k] / kRuns;
      variance[t][k] = std::isnan(square) ? INFINITY : std::max(variance[t][k], square);  // a NaN gives no estimate
    }
  }
  return variance;
}

OutputNumbers roots(OutputNumbers variance, double scale) {
  for (auto& tensor : variance) {
    for (double& value : tensor) value = std::sqrt(value) / scale;
  }
  return variance;
}

// Whether half of the elements of some output would gain a bit or more, or one of them has no finite bound.
bool worthwhile(const OutputNumbers& variance, const OutputNumbers& bound, double scale) {
  constexpr double kLeastGain = 2;
  for (std::size_t t = 0; t < variance.size(); ++t) {
    std::size_t counted = 0, gaining = 0;
    for (std::size_t k = 0; k < variance[t].size(); ++k) {
      if (bound[t][k] == 0 || !std::isfinite(variance[t][k])) continue;
      if (!std::isfinite(bound[t][k])) return true;  // otherwise it would have no bound at all
      ++counted;
      const double likely = kLeastGain * kDeviations * std::sqrt(variance[t][k]) / scale;
      if (likely <= bound[t][k]) ++gaining;
    }
    if (counted > 0 && 2 * gaining >= counted) return true;
  }
  return false;
}

}  // namespace

bool is_large(const Problem& problem) {
  const Extents& e = problem.extents;
  return static_cast<double>(e.T * e.B * e.H) * static_cast<double>((e.H + e.I) * e.L * e.D) > 1e7;
}

FirstEstimate first_estimate(const Problem& problem, const RoundingModel& model) {
  FirstEstimate out;
  out.variance = flatten(Variance(scaled(model), &out.dots), problem,
                         [](const WithVariance& part, Index k) { return part.q.data()[k]; });
  return out;
}

OutputNumbers deviations(FirstEstimate first, const Problem& problem, const RoundingModel& model) {
  return roots(raised_by_noise(std::move(first), problem, scaled(model)), scale_of(model));
}

OutputNumbers deviations_below(FirstEstimate first, const Problem& problem, const RoundingModel& model,
                               const OutputNumbers& bound) {
  if (!worthwhile(first.variance, bound, scale_of(model))) return {};
  return deviations(std::move(first), problem, model);
}

}  // namespace backgauge
