// SPDX-License-Identifier: Apache-2.0
// A run: for every workload all contestants are judged, timed in interleaved rounds, and judged again. method.md
// explains why it is done in this way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "perf/machine/probe.h"
#include "perf/results/bench_options.h"
#include "perf/results/results.h"
#include "perf/run/contestant.h"

namespace backgauge {

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
