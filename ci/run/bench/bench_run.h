// SPDX-License-Identifier: Apache-2.0
// One run of `backgauge bench`: what it was asked for, the workloads that this means, and the run itself.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "ci/run/implementation/candidate.h"
#include "perf/results/google_benchmark.h"
#include "perf/run/bench.h"
#include "perf/workload/workloads.h"

namespace backgauge::cli {

struct BenchArguments {
  std::string impl = "cpu", suite, cache = "hot", out, measure = "time";
  std::vector<std::string> lines;
  std::string T, B, I, H, dtype;
  int threads = 1;
  int rounds = 9;
  int blocks = 1;
  int launches = 3;  // a slow one of two kinds is drawn three times in a row by one contestant in eight
  double sample_ms = 25, max_work = BenchOptions().most_gflop;
  std::chrono::seconds max_time{0};  // 0: none
  bool quick = false, strict = false, mistrusted = false, unjudged = false, impatient = false;

  bool counting() const { return measure == "instructions"; }
  IsolationOptions isolation{};
  GoogleFlags google{};
};

// The workloads of --case and --suite, with the numbers of --T, --B, --I, --H and --dtype in place of their own,
// without repetitions and without those that --benchmark_filter excludes. Throws a CommandError if an option is wrong
// or no workload is left.
std::vector<Workload> chosen_workloads(const BenchArguments& options);

// Judges and times, prints the tables, and writes the files of --out and --benchmark_out. Returns the exit code. Throws
// a CommandError, before anything is measured, if an implementation cannot be opened or a file cannot be written.
int run_bench(const BenchArguments& options);

}  // namespace backgauge::cli
