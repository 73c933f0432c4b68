// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/correct_trial.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/proof/correct.h"
#include "ci/proof/grid.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/implementation/load_implementation.h"
#include "ci/run/plan/run_plan.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/interrupt.h"
#include "impl/registry.h"
#include "properties/campaign/calls/walk.h"

namespace backgauge::cli {
namespace {

std::vector<std::string> everybody() {
  std::vector<std::string> names;
  for (const Correct& each : correct_implementations()) {
    const bool variant = saboteurs::find_implementation(each.name) != nullptr;
    names.push_back(variant ? std::string(kSaboteurPrefix) + each.name : each.name);
  }
  for (const std::string& name : foreign_names()) names.push_back(name);
  return names;
}

// `count` cases at equal distances, because a tier begins with regressions and goldens and ends with malformed calls.
std::vector<Case> thinned(std::vector<Case> cases, std::size_t count) {
  if (count == 0 || count >= cases.size()) return cases;
  std::vector<Case> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(cases[k * cases.size() / count]);
  return out;
}

class Trial {
 public:
  explicit Trial(const CorrectTrialOptions& options) {
    trial_.options = options;
    if (trial_.options.implementations.empty()) trial_.options.implementations = everybody();
    for (const std::string& name : trial_.options.implementations) {
      Candidate& candidate = candidates_.emplace_back(name);
      const backgauge_implementation& table = candidate.table();
      trial_.isolated += candidate.isolated();
      trial_.results.push_back({.name = table.name, .what = table.description});
    }
    for (int job = 0; job < options.workers; ++job) {
      std::vector<Runner*>& row = runners_.emplace_back();
      for (Candidate& candidate : candidates_) row.push_back(&candidate.runner(static_cast<std::size_t>(job)));
    }
  }

  CorrectTrial run() {
    const auto start = std::chrono::steady_clock::now();
    for (const std::uint64_t seed : trial_.options.seeds) judge_seed(seed);
    watch_all();
    trial_.interrupted = interrupted();
    trial_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(trial_);
  }

 private:
  void judge_seed(std::uint64_t seed) {
    const CorrectTrialOptions& options = trial_.options;
    const std::vector<Case> cases = thinned(plan_of_tier(options.tier, seed, options.ops).cases, options.cases);
    constexpr std::size_t kBatch = 512;  // rows of verdicts that are kept in memory
    for (std::size_t begin = 0; begin < cases.size() && !interrupted(); begin += kBatch) {
      const std::vector<Case> batch(
          cases.begin() + static_cast<std::ptrdiff_t>(begin),
          cases.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kBatch, cases.size())));
      const std::string phase = "correct implementations, seed " + std::to_string(seed);
      const Grid grid = judge_grid(batch, runners_, {.progress = [&](std::size_t done) {
                                     if (options.progress) options.progress(phase, begin + done, cases.size());
                                   }});
      if (cut_short()) return;
      trial_.cases += grid.size();
      for (std::size_t c = 0; c < grid.size(); ++c) {
        for (std::size_t k = 0; k < grid[c].size(); ++k) count(trial_.results[k], batch[c], grid[c][k]);
      }
    }
  }

  // A sequence of calls, as `backgauge verify` makes it at the end of a tier.
  void watch_all() {
    const std::size_t count = runners_.front().size();
    in_parallel(count, static_cast<int>(runners_.size()), [&](std::size_t k, std::size_t worker) {
      watch(*runners_[worker][k], trial_.results[k]);
      if (trial_.options.progress) trial_.options.progress("state walks", k, count);
    });
  }

  void watch(Runner& runner, CorrectResult& result) const {
    WalkOptions options;
    options.ops = parse_ops(trial_.options.ops);
    options.seed = trial_.options.seeds.front();
    // A tenth of the walk of a tier. None of these implementations keeps state, so only the walk itself is tested.
    options.configurations = 13;
    options.calls = 200;
    if (const Walk walked = walk(runner, options); !walked.failure.empty() && !cut_short()) {
      const std::string where = walked.failed ? to_string(*walked.failed) + ": " : std::string();
      result.false_alarms.push_back("state walk: " + where + walked.failure);
    }
  }

  CorrectTrial trial_;
  std::deque<Candidate> candidates_{};
  std::vector<std::vector<Runner*>> runners_{};
};

}  // namespace

CorrectTrial try_correct(const CorrectTrialOptions& options) { return Trial(options).run(); }

std::int64_t CorrectTrial::runs() const {
  std::int64_t sum = 0;
  for (const CorrectResult& each : results) sum += each.runs;
  return sum;
}

std::int64_t CorrectTrial::mistrusted() const {
  std::int64_t sum = 0;
  for (const CorrectResult& each : results) sum += each.mistrusted;
  return sum;
}

std::size_t CorrectTrial::false_alarms() const {
  std::size_t sum = 0;
  for (const CorrectResult& each : results) sum += each.false_alarms.size();
  return sum;
}

double CorrectTrial::worst_ratio() const {
  double worst = 0;
  for (const CorrectResult& each : results) worst = std::max(worst, each.worst_ratio);
  return worst;
}

bool CorrectTrial::holds() const {
  const auto judged = [](const CorrectResult& each) { return each.passed > 0; };
  return false_alarms() == 0 && std::ranges::all_of(results, judged);
}

}  // namespace backgauge::cli
