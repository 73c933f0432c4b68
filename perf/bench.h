// SPDX-License-Identifier: Apache-2.0
// A run: for every workload all contestants are judged, timed in interleaved rounds, and judged again. method.md
// explains why it is done in this way.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/contestant.h"
#include "perf/probe.h"
#include "perf/results.h"

namespace backgauge {

struct BenchOptions {
  int rounds = 9;
  double sample_seconds =
      0.025;  // shortest sample: long compared with the cost of reading the clock and of an interrupt
  int threads = 1;
  bool cold = false;        // caches are emptied before every call
  bool mistrusted = false;  // MISTRUSTED results are timed, too
  bool untrusted = false;   // samples are watched: they are judged, and their times compared with the judge's
  bool unjudged = false;    // nothing is judged, and the entries say so: for workloads too large for the oracle
  int launches = 3;         // processes of each contestant, of which the fastest is timed
  int blocks = 1;           // how often all that is done anew: each block has its own processes and `rounds` rounds
  bool counting = false;    // counts instructions, with no regard to time: a sample is one call
  std::string counter{};    // what counts them: "hardware", "callgrind", or "" for nothing
  bool patient = true;      // waits for a quiet machine before a sample, and repeats one that was disturbed
  double most_gflop = 60;   // larger workloads are SKIPPED: judging takes some CPU seconds for each; nine has 53.7
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();  // no workload starts after this
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& phase, std::size_t done, std::size_t total)> progress =
      [](const std::string&, std::size_t, std::size_t) {};
  // Called with each workload as soon as it has ended. The noise is known by the first one that has a time.
  std::function<void(const BenchResult&, const WorkloadResult&)> ended = [](const BenchResult&, const WorkloadResult&) {
  };
};

class Bench {
 public:
  Bench(const Machine& machine, const Limits& limits, const BenchOptions& options)
      : machine_(machine), limits_(limits), options_(options) {}

  // Contestants in the order of the first round. A workload that was interrupted has no samples.
  BenchResult run(const std::vector<Workload>& workloads, const std::vector<std::unique_ptr<Contestant>>& contestants);

 private:
  struct TimedContestant;

  void run_workload(const Workload& workload, const std::vector<std::unique_ptr<Contestant>>& contestants,
                    BenchResult& result);
  std::vector<TimedContestant> judge_all(WorkloadInputs& workload_inputs,
                                         const std::vector<std::unique_ptr<Contestant>>& contestants,
                                         WorkloadResult& result);
  void time_blocks(WorkloadInputs& workload_inputs, const WorkloadResult& workload,
                   std::vector<TimedContestant>& all_timed);
  void launch(WorkloadInputs& workload_inputs, TimedContestant& timed, int block);
  double trial(TimedContestant& timed, Launch& launch);
  void time_rounds(const WorkloadResult& workload, std::vector<TimedContestant>& all_timed, int block);
  void measure_noise(const WorkloadResult& workload, TimedContestant& timed, BenchResult& result);
  std::int64_t calls_of_a_sample(Launch& launch);
  Verdict judge(Contestant& contestant, WorkloadInputs& workload_inputs, Entry& entry) const;
  void judge_again(TimedContestant& timed, const WorkloadResult& workload);
  bool may_be_timed(const Verdict& verdict) const;
  LoadOptions load_options() const;
  Sample sample(const WorkloadResult& workload, TimedContestant& timed, int round, double fma_gflops);
  void tell(const std::string& what);
  bool halted() const;

  const Machine& machine_;
  const Limits& limits_;
  const BenchOptions& options_;
  std::size_t done_ = 0, total_ = 0;
};

}  // namespace backgauge
