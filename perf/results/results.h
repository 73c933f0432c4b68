// SPDX-License-Identifier: Apache-2.0
// The results of a run: workloads x contestants, with the samples of each pair.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perf/meter/meter.h"
#include "perf/workload/cost_model.h"
#include "perf/workload/workloads.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

// Smaller differences are not significant: the same code differs by this much between two processes.
inline constexpr double kLeastNoise = 0.02;

// One batch of calls.
struct Sample {
  int round = 0;
  double seconds = 0;  // per call
  std::int64_t calls = 1;
  double fma_gflops = 0;  // the multiply-add loop in the same round; 0: not run, as for a time on a device
  bool disturbed = false;
  double cpu_seconds = 0;   // per call
  std::int64_t waits = -1;  // of all calls together; this and what follows as in Timing
  double instructions = Timing::kUnknown, cycles = Timing::kUnknown;  // per call
  int block = 0;                            // samples of different blocks come from different processes
  benchmark::BenchmarkReporter::Run run{};  // as Google Benchmark recorded it
};

// One contestant on one workload. It has samples only if it passed before the first and after the last one, or was
// timed on request although it is MISTRUSTED or was not judged.
struct Entry {
  std::string implementation, version;
  Verdict verdict;
  double first_call = 0;  // seconds
  double empty_call = 0;  // seconds of a call that computes nothing; 0: not measured, for it is that of a C function
  std::vector<Sample> samples{};
  std::vector<double> launches{};  // seconds per call in each process; the fastest is timed

  bool on_device = false;     // in the memory of a device, to which the limits of the CPU do not apply
  double device_limit = 0;    // of such a call, GFLOP/s or GB/s as the work of the workload is limited; 0: not known
  std::string above_limit{};  // why it is faster than its limit (plausible.h), or ""

  bool unjudged = false;  // its results were not compared with anything; the verdict says nothing
  std::string doubt{};    // why its time is impossible (plausible.h), or ""

  bool timed() const { return !samples.empty() && doubt.empty(); }
  std::string_view word() const;  // the word of the verdict, IMPLAUSIBLE or UNJUDGED
  const std::string& reason() const { return doubt.empty() ? verdict.reason : doubt; }
  double seconds() const;                                   // median
  std::vector<double> known(double Sample::*number) const;  // that of each sample where it is known
  double error_over_bound() const;                          // largest of all outputs; NaN if they were not judged
};

struct WorkloadResult {
  Workload workload;  // with the checksum of its inputs
  Work work;
  int threads = 1;
  double copy_gbps = 0;  // the copy bandwidth of the level that holds its bytes
  std::vector<Entry> entries{};

  double gflops(const Entry& entry) const;  // 0 if no flops are counted
  double gbps(const Entry& entry) const;
  // Of the multiply-add loop in the same rounds, or of copy_gbps; on a device, of its limit. 0: not known.
  double share_of_limit(const Entry& entry) const;
};

struct BenchResult {
  std::vector<WorkloadResult> workloads{};
  std::size_t planned = 0;
  double noise = 0;  // the same implementation twice, interleaved: |ratio - 1|
  bool noise_known = false;

  std::size_t samples() const;
  std::size_t disturbed() const;
};

}  // namespace backgauge
