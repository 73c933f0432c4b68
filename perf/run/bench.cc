// SPDX-License-Identifier: Apache-2.0
#include "perf/run/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "perf/meter/interference.h"
#include "perf/meter/statistics.h"
#include "perf/results/google_benchmark.h"
#include "perf/results/plausible.h"
#include "properties/case/files/memory_budget.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// For a call this long, the previous contents of the caches do not matter.
constexpr double kNoWarmUp = 0.1;
// A call this long is sampled only in the first rounds: noise is small compared with it, and all rounds would take many
// minutes.
constexpr double kLongCall = 2;
constexpr int kLeastRounds = 3;  // the fewest that have a useful median
constexpr std::int64_t kMostCalls = 1'000'000;
// A framework may prepare for longer than it is timed: 5 times as long for the cell in TensorFlow at B1 H128, 11 times
// at B32 H512, 14 times at B128 H1024 (medians of 200 calls, AMD EPYC, busy). Beyond this limit, which leaves room for
// slower ones, a sample has fewer calls, so that it does not take seconds instead of 25 ms.
constexpr double kMostOfASample = 40;
constexpr std::chrono::microseconds kFmaReference{2000};
constexpr std::chrono::milliseconds kWaitForQuiet{20};  // how long to wait for a quiet machine before each sample
constexpr int kMostRetries = 1;                         // repetitions of a disturbed sample
constexpr int kMostRounds = 10'001;  // above the largest --reps, and odd, so that the next seed has the other parity
constexpr int kNoiseRounds = 5;
constexpr int kTrialsPerLaunch = 3;  // samples of each launch, of which the shortest counts: disturbances only add time

Entry entry_without_time(const Contestant& contestant, Status status, std::string reason) {
  Entry entry{contestant.name(), contestant.version(), {status, std::move(reason), {}}};
  entry.on_device = !contestant.on_cpu();
  return entry;
}

void fail(Entry& entry, Verdict verdict) {
  entry.samples.clear();
  entry.unjudged = false;
  entry.verdict = std::move(verdict);
}

}  // namespace

// A contestant that has passed, its fastest launch, and the entry of its samples.
struct Bench::TimedContestant {
  Contestant* contestant;
  Entry* entry;
  std::unique_ptr<Launch> launch{};
  std::int64_t calls = 1;
  bool warms_up = true;

  // Running only while it is timed or judged, otherwise stopped.
  class Awake {
   public:
    explicit Awake(Launch& launch) : launch_(launch) { launch.resume(); }
    ~Awake() { launch_.pause(); }
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;

   private:
    Launch& launch_;
  };
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
    for (const auto& contestant : contestants) mine.entries.push_back(entry_without_time(*contestant, status, reason));
  };
  if (mine.work.flops > options_.most_gflop * kGiga) {
    all(Status::kSkipped,
        fmt::format("{:.3g} GFLOP, more than --max-work={:.3g}", mine.work.flops / kGiga, options_.most_gflop));
    return;
  }
  // All contestants are in memory at the same time, and one of them twice while its launches are compared. Inputs that
  // nothing is judged with take no more than one launch.
  const double inputs = options_.unjudged ? memory_of_a_launch(workload.c) : memory_of_a_judged_case(workload.c);
  const double bytes = inputs + static_cast<double>(contestants.size() + 1) * memory_of_a_launch(workload.c);
  if (bytes > static_cast<double>(available_memory())) {
    all(Status::kSkipped, fmt::format("needs {:.3g} GB of memory", bytes / kGiga));
    return;
  }
  try {
    tell("inputs of " + workload.name());
    WorkloadInputs workload_inputs(workload.c, load_options(), Crew::of_all_cores(options_.stop));
    mine.workload.c = workload_inputs.c;
    std::vector<TimedContestant> all_timed = judge_all(workload_inputs, contestants, mine);
    if (!all_timed.empty() && !halted()) {
      if (!result.noise_known && !options_.counting) measure_noise(mine, all_timed.front(), result);
      time_blocks(workload_inputs, mine, all_timed);
    }
    double fma_gflops = 0;
    for (const Entry& entry : mine.entries) {
      for (const Sample& sample : entry.samples) fma_gflops = std::max(fma_gflops, sample.fma_gflops);
    }
    for (TimedContestant& timed : all_timed) {
      if (options_.counting || !timed.entry->timed()) continue;
      timed.entry->above_limit = above_limit(mine, *timed.entry, machine_);
      if (timed.entry->on_device) continue;
      timed.entry->doubt = implausible(mine, *timed.entry, machine_, limits_, fma_gflops, result.noise);
    }
    // Who stops a run may end the processes that it waits for.
    for (Entry& entry : mine.entries) {
      if (options_.stop() && entry.verdict.status == Status::kBroken)
        fail(entry, {Status::kSkipped, "interrupted", {}});
    }
  } catch (const std::bad_alloc&) {
    mine.entries.clear();
    all(Status::kSkipped, "needs more memory than is available");
  } catch (const Stopped&) {
    all(Status::kSkipped, "interrupted");
  } catch (const std::runtime_error& error) {  // thrown for the inputs
    mine.entries.clear();
    all(Status::kSkipped, error.what());
  }
}

std::vector<Bench::TimedContestant> Bench::judge_all(WorkloadInputs& workload_inputs,
                                                     const std::vector<std::unique_ptr<Contestant>>& contestants,
                                                     WorkloadResult& result) {
  result.entries.reserve(contestants.size());
  std::vector<TimedContestant> all_timed;
  for (const auto& contestant : contestants) {
    Entry& entry = result.entries.emplace_back(entry_without_time(*contestant, Status::kSkipped, "interrupted"));
    if (entry.on_device && limits_.device && machine_.device) {
      entry.device_limit = result.work.limited_by == LimitedBy::kBandwidth
                               ? limits_.device->copy(result.work.bytes, *machine_.device)
                               : limits_.device->products(result.workload.c.dtype);
    }
    if (options_.stop()) continue;
    tell(fmt::format("{} {} on {}", contestant->name(), options_.unjudged ? "prepared" : "judged",
                     result.workload.name()));
    entry.verdict = judge(*contestant, workload_inputs, entry);
    if (!entry.unjudged && !may_be_timed(entry.verdict)) continue;
    try {
      TimedContestant timed{contestant.get(), &entry};
      launch(workload_inputs, timed, 0);
      all_timed.push_back(std::move(timed));
    } catch (const ContestantError& error) {
      fail(entry, {error.status, error.what(), {}});
    }
  }
  return all_timed;
}

// The verdict on its results; for an entry that becomes unjudged it says nothing.
Verdict Bench::judge(Contestant& contestant, WorkloadInputs& workload_inputs, Entry& entry) const {
  if (!options_.unjudged) return contestant.judge(workload_inputs);
  std::optional<Verdict> refusal = contestant.refuse(workload_inputs);
  entry.unjudged = !refusal.has_value();
  return refusal.value_or(Verdict{Status::kSkipped, "", {}});
}

void Bench::judge_again(TimedContestant& timed, const WorkloadResult& workload) {
  tell(fmt::format("{} judged again on {}", timed.entry->implementation, workload.workload.name()));
  const TimedContestant::Awake awake(*timed.launch);
  Verdict last = timed.launch->judge();
  if (may_be_timed(last)) return;
  last.reason = "after the last timing: " + last.reason;
  fail(*timed.entry, std::move(last));
}

// The addresses of a process are random and can make it fast or slow: every contestant gets the best of several
// launches.
void Bench::launch(WorkloadInputs& workload_inputs, TimedContestant& timed, int block) {
  timed.launch.reset();
  double best = 0;
  for (int k = 0; k < options_.launches && !options_.stop(); ++k) {
    tell(fmt::format("launch {} of {}: {}", k + 1, options_.launches, timed.entry->implementation));
    std::unique_ptr<Launch> launch = timed.contestant->launch(workload_inputs);
    if (k == 0 && block == 0) {
      // A watched call comes after another one in any case.
      timed.warms_up =
          !options_.cold && !options_.untrusted && !options_.counting && launch->loaded().first_call < kNoWarmUp;
      timed.calls = calls_of_a_sample(*launch);
    }
    // Many blocks with one process each leave no choice between processes.
    const bool choice = options_.launches > 1 || options_.blocks == 1;
    const double seconds = choice ? trial(timed, *launch) : launch->loaded().first_call;
    launch->pause();
    timed.entry->launches.push_back(seconds);
    if (k > 0 && seconds >= best) continue;
    best = seconds;
    timed.entry->first_call = launch->loaded().first_call;
    timed.entry->empty_call = launch->loaded().empty_call;
    timed.launch = std::move(launch);
  }
  if (!timed.launch) throw ContestantError("interrupted", Status::kSkipped);
}

// Seconds of a call. For long calls the first call has measured it.
double Bench::trial(TimedContestant& timed, Launch& launch) {
  if (options_.counting || launch.loaded().first_call > kLongCall) return launch.loaded().first_call;
  if (timed.warms_up) launch.time(1);
  double least = 0;
  for (int k = 0; k < kTrialsPerLaunch; ++k) {
    const double seconds = launch.time(timed.calls).seconds / static_cast<double>(timed.calls);
    least = k == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

// Every block is judged at its end, because the next one has other processes. Each block launches another contestant
// first: of three processes of the same code the one that was always launched last was 0.1 % faster (240 blocks of
// three workloads, AMD EPYC).
void Bench::time_blocks(WorkloadInputs& workload_inputs, const WorkloadResult& workload,
                        std::vector<TimedContestant>& all_timed) {
  for (int block = 0; block < options_.blocks && !halted(); ++block) {
    for (std::size_t turn = 0; turn < all_timed.size(); ++turn) {
      TimedContestant& timed = all_timed[(turn + static_cast<std::size_t>(block)) % all_timed.size()];
      if (block == 0 || !timed.entry->timed()) continue;
      try {
        launch(workload_inputs, timed, block);
      } catch (const ContestantError& error) {
        fail(*timed.entry, {error.status, error.what(), {}});
      }
    }
    time_rounds(workload, all_timed, block);
    for (TimedContestant& timed : all_timed) {
      if (timed.entry->timed() && !timed.entry->unjudged) judge_again(timed, workload);
    }
  }
}

// A B C, C B A, B C A, A C B, C A B, B A C: drift affects all alike, and so does the place in a round.
void Bench::time_rounds(const WorkloadResult& workload, std::vector<TimedContestant>& all_timed, int block) {
  for (int of_block = 0; of_block < options_.rounds && !options_.stop(); ++of_block) {
    if (of_block >= kLeastRounds && Clock::now() >= options_.deadline) break;
    const int round = block * options_.rounds + of_block;
    const bool on_cpu = std::ranges::any_of(all_timed, [](const TimedContestant& t) { return !t.entry->on_device; });
    const double fma_reference =
        options_.counting || !on_cpu ? 0 : fma_rate(workload.workload.c.dtype, options_.threads, kFmaReference);
    for (std::size_t turn = 0; turn < all_timed.size(); ++turn) {
      const std::size_t place = round % 2 == 0 ? turn : all_timed.size() - 1 - turn;
      TimedContestant& timed = all_timed[(place + static_cast<std::size_t>(round / 2)) % all_timed.size()];
      if (!timed.entry->unjudged && !may_be_timed(timed.entry->verdict)) continue;
      if (of_block >= kLeastRounds && timed.entry->first_call > kLongCall) continue;
      tell(fmt::format("round {} of {}: {} on {}", round + 1, options_.rounds * options_.blocks,
                       timed.entry->implementation, workload.workload.name()));
      try {
        timed.entry->samples.push_back(sample(workload, timed, round, timed.entry->on_device ? 0 : fma_reference));
        timed.entry->samples.back().block = block;
      } catch (const ContestantError& error) {
        fail(*timed.entry, {error.status, error.what(), {}});
      }
    }
  }
}

void Bench::measure_noise(const WorkloadResult& workload, TimedContestant& timed, BenchResult& result) {
  std::vector<double> first, second;
  try {
    for (int round = 0; round < kNoiseRounds && !options_.stop(); ++round) {
      tell(fmt::format("noise, {} against itself", timed.entry->implementation));
      for (std::vector<double>* into : {&first, &second}) {
        into->push_back(sample(workload, timed, round, 0).seconds);
      }
      std::swap(first, second);
    }
  } catch (const ContestantError&) {
    return;  // the rounds will report it
  }
  result.noise = disagreement(first, second);
  result.noise_known = true;
}

bool Bench::may_be_timed(const Verdict& verdict) const {
  return verdict.status == Status::kPassed || (options_.mistrusted && verdict.status == Status::kMistrusted);
}

std::int64_t Bench::calls_of_a_sample(Launch& launch) {
  // A first call takes less than ten times as long as later ones.
  if (options_.cold || options_.counting || launch.loaded().first_call > 10 * options_.sample_seconds) return 1;
  std::int64_t calls = 1;
  for (;;) {
    const Clock::time_point begin = Clock::now();
    const double seconds = launch.time(calls).seconds;
    const double with_what_is_not_timed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds >= options_.sample_seconds || calls >= kMostCalls) return calls;
    if (with_what_is_not_timed >= kMostOfASample * options_.sample_seconds) return calls;
    // Towards the goal, but at most tenfold at once: short times are inaccurate.
    const double factor = std::clamp(1.2 * options_.sample_seconds / std::max(seconds, 1e-9), 1.2, 10.0);
    calls = std::min(kMostCalls, static_cast<std::int64_t>(std::ceil(static_cast<double>(calls) * factor)));
  }
}

LoadOptions Bench::load_options() const {
  // Twice the last level, so that no level holds anything else.
  const std::int64_t all_caches =
      2 * std::max({machine_.l1_bytes, machine_.l2_bytes, machine_.l3_bytes, std::int64_t{1} << 22});
  return {.threads = options_.threads, .evict_bytes = options_.cold ? all_caches : 0, .watched = options_.untrusted};
}

Sample Bench::sample(const WorkloadResult& workload, TimedContestant& timed, int round, double fma_gflops) {
  Launch& launch = *timed.launch;
  const std::string name = timed.entry->implementation + "/" + workload.workload.name();
  for (int attempt = 0;; ++attempt) {
    InterferenceMonitor interference(launch.process());
    interference.wait_until_idle(options_.patient ? kWaitForQuiet : std::chrono::milliseconds(0));
    const TimedContestant::Awake awake(launch);
    // The same inputs for all contestants, and different from those of the previous sample, so that an answer from a
    // cache is wrong. Where nothing is judged it would not be noticed, and large inputs take longer to change than a
    // call.
    // Under Valgrind a call takes seconds, so that counted calls change them once, and warm up once after that.
    const bool turns = !timed.entry->unjudged && (!options_.counting || round == 0);
    const int turn = 1 + round + attempt * kMostRounds;
    if (turns) launch.turn(static_cast<std::uint64_t>(turn));
    if (timed.warms_up || (options_.counting && turns)) launch.time(1);
    interference.watch();
    Sample out{.round = round, .calls = timed.calls, .fma_gflops = fma_gflops};
    Timing timing;
    out.run =
        run_under_google(name, timed.calls, [&](std::int64_t calls) { return (timing = launch.time(calls)).seconds; });
    out.run.cpu_accumulated_time = timing.cpu_seconds;
    const auto of_a_call = [&timed](double sum) { return sum / static_cast<double>(timed.calls); };
    out.seconds = of_a_call(timing.seconds);
    out.cpu_seconds = of_a_call(timing.cpu_seconds);
    out.instructions = of_a_call(timing.instructions);
    out.cycles = of_a_call(timing.cycles);
    out.waits = timing.waits;
    out.disturbed = interference.disturbed();
    if (!out.disturbed || !options_.patient || attempt == kMostRetries || Clock::now() >= options_.deadline) return out;
  }
}

void Bench::tell(const std::string& what) { options_.progress(what, done_, total_); }

bool Bench::halted() const { return options_.stop() || Clock::now() >= options_.deadline; }

}  // namespace backgauge
