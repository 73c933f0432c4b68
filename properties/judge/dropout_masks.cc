// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/dropout_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/case/line/random.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

constexpr double kBits = 64;

// All inputs are positive, and weights add up to about a half: no relu is closed, no gate is saturated, and each
// element of a layer changes all elements of the next one, by different amounts. Masks do not depend on values.
void fill_for_masks(Problem& problem) {
  const Extents& e = problem.extents;
  const double fan_in = static_cast<double>(std::max({e.I, e.D * e.H, std::int64_t{1}}));
  for (Tensor& tensor : problem.inputs) {
    const double scale = tensor.name == "params" ? 0.5 / fan_in : 0.5;
    const RandomStream stream(1, "dropout_seeds/" + tensor.name);
    for (std::size_t k = 0; k < tensor.values.size(); ++k) {
      tensor.values[k] = round_to(problem.dtype, scale * (0.5 + stream.uniform(static_cast<std::int64_t>(k))));
    }
  }
}

// The masks that one forward has drawn, or its outputs if masks are not available.
struct Drawn {
  std::optional<Verdict> failure;
  std::vector<std::vector<std::uint8_t>> keep;
  std::vector<Output> outputs;
};

class Trial {
 public:
  Trial(Runner& runner, const Problem& problem, const RunOptions& options, bool masks_available)
      : runner_(runner), problem_(problem), options_(options), masks_available_(masks_available) {
    // With a negative seed2 the high half of cuDNN's seed is all ones, whatever `seed` is.
    problem_.attributes.seed &= 0x7fffffff;
    problem_.attributes.seed2 &= 0x7fffffff;
    fill_for_masks(problem_);
  }

  Drawn draw(std::int64_t seed_change, std::int64_t seed2_change) {
    Problem changed = problem_;
    changed.attributes.seed ^= seed_change;
    changed.attributes.seed2 ^= seed2_change;
    Drawn drawn;
    CaseSession session(runner_, changed);
    RunResult made = session.forward(options_);
    drawn.failure = verdict_of_failed_run(made);
    if (drawn.failure) return drawn;
    if (masks_available_) {
      DropoutMasks masks = session.dropout_masks(options_);
      drawn.failure = verdict_of_failed_run(masks.result);
      drawn.keep = std::move(masks.keep);
    } else {
      drawn.outputs = std::move(made.outputs);
    }
    return drawn;
  }

  const Problem& problem() const { return problem_; }

 private:
  Runner& runner_;
  Problem problem_;
  RunOptions options_;
  bool masks_available_;
};

double largest_difference(const std::vector<Output>& a, const std::vector<Output>& b) {
  double largest = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t k = 0; k < a[t].values.size(); ++k) {
      largest = std::max(largest, std::fabs(a[t].values[k] - b[t].values[k]));
    }
  }
  return largest;
}

// Minus the binary logarithm of the probability that two fair draws of all masks of a problem are equal.
double mask_bits(const Problem& problem) {
  const Extents& e = problem.extents;
  const double elements = static_cast<double>(e.L - 1) * static_cast<double>(mask_elements(e));
  const double drop = static_cast<double>(problem.attributes.dropout);
  return -elements * std::log2(drop * drop + (1 - drop) * (1 - drop));
}

// Outputs whose bits need not repeat differ by rounding errors. Another mask changes them by many times that.
constexpr double kManyTimes = 4;

// Calls the forward four times, with values for which no unit is dead or saturated: twice with the seeds of the case,
// and once with each of them changed.
std::optional<Verdict> judge_seeds(const CaseSession& session, const RunOptions& options, bool masks_available) {
  const bool has_state = session.changes_masks();
  Trial trial(session.runner(), session.problem(), options, masks_available);
  const Drawn first = trial.draw(0, 0);
  if (first.failure) return first.failure;
  const Drawn again = trial.draw(0, 0);
  if (again.failure) return again.failure;
  const auto of = [&](const std::string& what) {
    const backgauge_attributes& a = trial.problem().attributes;
    return fmt::format("dropout mask: {} (seed {}, seed2 {})", what, a.seed, a.seed2);
  };
  if (!has_state && first.keep != again.keep)
    return failed(of("the mask differs in a second forward with the same seed and seed2"));
  const double noise = masks_available ? 0 : largest_difference(first.outputs, again.outputs);
  if (session.repeats() && noise > 0)
    return failed(of("outputs differ in a second forward with the same seed and seed2"));
  if (mask_bits(session.problem()) < kBits) return std::nullopt;

  for (const bool second : {false, true}) {
    const Drawn other = trial.draw(second ? 0 : 1, second ? 1 : 0);
    if (other.failure) return other.failure;
    const bool same = masks_available ? first.keep == other.keep
                                      : largest_difference(first.outputs, other.outputs) <= kManyTimes * noise;
    if (!same) continue;
    const std::string what = masks_available ? "the mask does not change with " : "outputs do not change with ";
    return failed(of(what + (second ? "seed2" : "seed")));
  }
  return std::nullopt;
}

}  // namespace

std::string implausible_mask(const std::vector<std::uint8_t>& keep, double dropout) {
  const auto odd = std::ranges::find_if(keep, [](std::uint8_t value) { return value > 1; });
  if (odd != keep.end()) return fmt::format("element {} is {}", odd - keep.begin(), *odd);
  if (keep.empty()) return "";
  // Chernoff: n independent draws show a share s with probability at most exp(-n KL(s, 1 - dropout)) on either side.
  const auto n = static_cast<double>(keep.size());
  const auto kept = static_cast<double>(std::ranges::count(keep, 1));
  const auto term = [](double share, double expected) { return share > 0 ? share * std::log(share / expected) : 0; };
  const double divergence = term(kept / n, 1 - dropout) + term(1 - kept / n, dropout);
  if (n * divergence <= std::log(1e12)) return "";
  return fmt::format("keeps {} of {} elements with dropout {:.6g}", kept, keep.size(), dropout);
}

std::optional<Verdict> judge_dropout_masks(const CaseSession& session, const DropoutMasks& masks,
                                           const RunOptions& options) {
  if (!session.draws_masks()) return std::nullopt;
  if (masks.unavailable()) {
    if (session.changes_masks()) {
      return Verdict{Status::kSkipped, fmt::format("{}, and are not available", kMasksWithState), {}};
    }
    return judge_seeds(session, options, false);
  }
  if (auto verdict = verdict_of_failed_run(masks.result)) return verdict;
  const auto dropout = static_cast<double>(session.problem().attributes.dropout);
  for (std::size_t gap = 0; gap < masks.keep.size(); ++gap) {
    const std::string fault = implausible_mask(masks.keep[gap], dropout);
    if (!fault.empty()) return failed(fmt::format("dropout mask of gap {}: {}", gap, fault));
  }
  return judge_seeds(session, options, true);
}

}  // namespace backgauge
