// SPDX-License-Identifier: Apache-2.0
// The arguments of `backgauge bench`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "ci/run/implementation/candidate.h"
#include "perf/results/google_benchmark.h"
#include "perf/run/bench.h"

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

}  // namespace backgauge::cli
