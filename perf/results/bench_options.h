// SPDX-License-Identifier: Apache-2.0
// The options of a run: how it times, what it leaves out, and where it reports.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "perf/results/results.h"

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

}  // namespace backgauge
