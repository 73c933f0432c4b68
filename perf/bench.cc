// SPDX-License-Identifier: Apache-2.0
#include "perf/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "perf/google.h"
#include "perf/quiet.h"
#include "perf/statistics.h"
#include "properties/case/memory_budget.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// A call this long does not feel what the caches held before it.
constexpr double kNoWarmUp = 0.1;
// A call this long is sampled in the first rounds only: noise is small against it, and rounds are many minutes.
constexpr double kLongCall = 2;
constexpr int kLeastRounds = 3;  // a median needs them
constexpr std::int64_t kMostCalls = 1'000'000;
constexpr std::chrono::microseconds kYardstick{2000};
constexpr std::chrono::milliseconds kPatience{20};  // for a quiet machine, before each sample
constexpr int kMostRetries = 1;                     // of a sample that was disturbed
// Workers of thread pools spin for a while after their work: OpenMP's default is of this order.
constexpr std::chrono::milliseconds kPoolsGoToSleep{5};
constexpr int kNoiseRounds = 5;

// What the judge could not do for lack of inputs.
Entry unjudged(const Contestant& contestant, Status status, std::string reason) {
  return {contestant.name(), contestant.version(), {status, std::move(reason), {}}};
}

}  // namespace

// A contestant that has passed, and where its samples go.
struct Bench::Lane {
  Contestant* contestant;
  Entry* entry;
  std::int64_t calls = 1;
  bool warms_up = true;
};

BenchResult Bench::run(const std::vector<Workload>& workloads,
                       const std::vector<std::unique_ptr<Contestant>>& contestants) {
  BenchResult result;
  result.planned = total_ = workloads.size();
  for (const Workload& workload : workloads) {
    if (halted()) break;
    run_workload(workload, contestants, result);
    ++done_;
    options_.ended(result, result.workloads.back());
  }
  return result;
}

void Bench::run_workload(const Workload& workload, const std::vector<std::unique_ptr<Contestant>>& contestants,
                         BenchResult& result) {
  WorkloadResult& mine = result.workloads.emplace_back(WorkloadResult{workload, work_of(workload.c), options_.threads});
  mine.copy_gbps = limits_.copy.at(mine.work.bytes, machine_, options_.threads);
  const auto all = [&](Status status, const std::string& reason) {
    for (const auto& contestant : contestants) mine.entries.push_back(unjudged(*contestant, status, reason));
  };
  constexpr double kGiga = 1e9;
  if (mine.work.flops > options_.most_gflop * kGiga) {
    all(Status::kSkipped,
        fmt::format("{:.3g} GFLOP, more than --max-work={:.3g}", mine.work.flops / kGiga, options_.most_gflop));
    return;
  }
  if (const double bytes = memory_of_a_judged_case(workload.c); bytes > static_cast<double>(available_memory())) {
    all(Status::kSkipped, fmt::format("needs {:.3g} GB of memory", bytes / kGiga));
    return;
  }
  try {
    tell("inputs of " + workload.name());
    Subject subject(workload.c, options_.threads);
    mine.workload.c = subject.c;
    std::vector<Lane> lanes = judge_all(subject, contestants, mine);
    if (!lanes.empty() && !halted()) {
      if (!result.noise_known) measure_noise(mine, lanes.front(), result);
      time_rounds(mine, lanes);
    }
    for (Lane& lane : lanes) {
      if (!lane.entry->timed()) continue;
      tell(fmt::format("{} judged again on {}", lane.entry->implementation, workload.name()));
      Verdict last = lane.contestant->judge_again();
      if (may_be_timed(last)) continue;
      last.reason = "after the last timing: " + last.reason;
      lane.entry->verdict = std::move(last);
      lane.entry->samples.clear();
    }
  } catch (const std::bad_alloc&) {
    mine.entries.clear();
    all(Status::kSkipped, "needs more memory than there is");
  } catch (const std::runtime_error& error) {  // of the inputs
    mine.entries.clear();
    all(Status::kSkipped, error.what());
  }
  for (const auto& contestant : contestants) contestant->drop();
}

std::vector<Bench::Lane> Bench::judge_all(Subject& subject, const std::vector<std::unique_ptr<Contestant>>& contestants,
                                          WorkloadResult& result) {
  result.entries.reserve(contestants.size());
  std::vector<Lane> lanes;
  for (const auto& contestant : contestants) {
    Entry& entry = result.entries.emplace_back(unjudged(*contestant, Status::kSkipped, "interrupted"));
    if (options_.stop()) continue;
    tell(fmt::format("{} judged on {}", contestant->name(), result.workload.name()));
    entry.verdict = contestant->judge(subject);
    if (!may_be_timed(entry.verdict)) continue;
    try {
      entry.first_call = contestant->load(subject);
      Lane lane{contestant.get(), &entry};
      lane.warms_up = !options_.cold && entry.first_call < kNoWarmUp;
      lane.calls = calls_of_a_sample(lane);
      lanes.push_back(lane);
    } catch (const ContestantError& error) {
      entry.verdict = {Status::kBroken, error.what(), {}};
    }
  }
  return lanes;
}

// A B C, then C B A: what drifts meets all alike.
void Bench::time_rounds(const WorkloadResult& workload, std::vector<Lane>& lanes) {
  for (int round = 0; round < options_.rounds && !options_.stop(); ++round) {
    if (round >= kLeastRounds && Clock::now() >= options_.deadline) break;
    const double yardstick = fma_rate(workload.workload.c.dtype, options_.threads, kYardstick);
    for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
      Lane& lane = lanes[round % 2 == 0 ? turn : lanes.size() - 1 - turn];
      if (!may_be_timed(lane.entry->verdict)) continue;
      if (round >= kLeastRounds && lane.entry->first_call > kLongCall) continue;
      tell(fmt::format("round {} of {}: {} on {}", round + 1, options_.rounds, lane.entry->implementation,
                       workload.workload.name()));
      try {
        lane.entry->samples.push_back(sample(workload, lane, round, yardstick));
      } catch (const ContestantError& error) {
        lane.entry->samples.clear();
        lane.entry->verdict = {Status::kBroken, error.what(), {}};
      }
    }
  }
}

void Bench::measure_noise(const WorkloadResult& workload, Lane& lane, BenchResult& result) {
  std::vector<double> first, second;
  try {
    for (int round = 0; round < kNoiseRounds && !options_.stop(); ++round) {
      tell(fmt::format("noise, {} against itself", lane.entry->implementation));
      for (std::vector<double>* into : {&first, &second}) {
        into->push_back(sample(workload, lane, round, 0).seconds);
      }
      std::swap(first, second);
    }
  } catch (const ContestantError&) {
    return;  // the rounds will say so
  }
  result.noise = disagreement(first, second);
  result.noise_known = true;
}

bool Bench::may_be_timed(const Verdict& verdict) const {
  return verdict.status == Status::kPassed || (options_.mistrusted && verdict.status == Status::kMistrusted);
}

std::int64_t Bench::calls_of_a_sample(const Lane& lane) {
  // No first call is ten times slower for being the first.
  if (options_.cold || lane.entry->first_call > 10 * options_.sample_seconds) return 1;
  std::int64_t calls = 1;
  for (;;) {
    const double seconds = lane.contestant->time(calls);
    if (seconds >= options_.sample_seconds || calls >= kMostCalls) return calls;
    // Towards the goal, but no more than tenfold at once: short times are read badly.
    const double factor = std::clamp(1.2 * options_.sample_seconds / std::max(seconds, 1e-9), 1.2, 10.0);
    calls = std::min(kMostCalls, static_cast<std::int64_t>(std::ceil(static_cast<double>(calls) * factor)));
  }
}

double Bench::timed_batch(Contestant& contestant, std::int64_t calls) {
  if (!options_.cold) return contestant.time(calls);
  double seconds = 0;
  for (std::int64_t call = 0; call < calls; ++call) {
    // Written, so that every level has let go of everything else; twice the last one.
    const std::int64_t last =
        std::max({machine_.l1_bytes, machine_.l2_bytes, machine_.l3_bytes, std::int64_t{1} << 22});
    evicting_.resize(static_cast<std::size_t>(2 * last));
    for (std::size_t k = 0; k < evicting_.size(); k += 64) ++evicting_[k];
    contestant.empty_caches();
    seconds += contestant.time(1);
  }
  return seconds;
}

Sample Bench::sample(const WorkloadResult& workload, Lane& lane, int round, double fma_gflops) {
  Contestant& contestant = *lane.contestant;
  if (options_.threads > 1) std::this_thread::sleep_for(kPoolsGoToSleep);
  const std::string name = lane.entry->implementation + "/" + workload.workload.name();
  for (int attempt = 0;; ++attempt) {
    QuietGate gate(contestant.process());
    gate.open(kPatience);
    if (lane.warms_up) contestant.time(1);
    Sample out{.round = round, .calls = lane.calls, .fma_gflops = fma_gflops};
    double seconds = 0;
    out.run = run_under_google(name, lane.calls,
                               [&](std::int64_t calls) { return seconds = timed_batch(contestant, calls); });
    out.seconds = seconds / static_cast<double>(lane.calls);
    out.disturbed = gate.disturbed();
    if (!out.disturbed || attempt == kMostRetries || Clock::now() >= options_.deadline) return out;
  }
}

void Bench::tell(const std::string& what) { options_.progress(what, done_, total_); }

bool Bench::halted() const { return options_.stop() || Clock::now() >= options_.deadline; }

}  // namespace backgauge
