// SPDX-License-Identifier: Apache-2.0
// Turns cases into records: makes the inputs, judges, and passes the records on in the order of the cases.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ci/run/implementation/candidate.h"
#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/case/stored/golden.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

struct JudgingOptions {
  int workers = 2;      // cases judged in parallel
  int num_threads = 1;  // of the implementation, per call
  bool redraw = false;  // an inconclusive (MISTRUSTED) generated case gets other values: redraw.h
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();  // no case starts after this
  // Gets each record as soon as its case has ended, in any order, from any thread, one at a time.
  std::function<void(std::size_t index, const Record&)> ended{};
};

// The seed of the placement of the tensors of a case in memory.
std::uint64_t placement_seed(const Case& c, const Filled& filled);

// A malformed call, data=malformed:N.
Verdict judge_malformed(Runner& runner, const Case& c);

// One case, judged. A case whose inputs cannot be made is BROKEN(harness).
Record judge_line(Runner& runner, const Case& c, int num_threads);

// The outputs recorded with a golden vector, to be judged like those of an implementation. `data` must outlive it.
struct StoredOutputs {
  const Problem& problem;
  Declared declared;
  ExpectedOutputs expected;
  std::vector<GivenTensor> given;

  explicit StoredOutputs(const GoldenData& data);
  Verdict judge() { return judge_outputs(expected, problem, given, declared); }
};
Record judge_golden_producer(const Case& golden);

// Judges all cases; `sink` gets each record in order and returns false to stop. An interrupt or the deadline also stops
// the run, after the cases that were started.
void judge_all(Candidate& candidate, const std::vector<Case>& cases, const JudgingOptions& options,
               const std::function<bool(const Record&)>& sink);

}  // namespace backgauge::cli
