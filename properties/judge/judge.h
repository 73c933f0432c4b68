// SPDX-License-Identifier: Apache-2.0
// Judges an implementation on one problem, end to end. README.md lists the checks in their order.
#pragma once

#include "properties/case/line/filled.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

struct JudgeOptions {
  std::uint64_t seed = 0;  // of the placement in memory
  std::int32_t num_threads = 1;
  // Where several implementations are judged on one case: its expected outputs, kept from one to the next. nullptr: the
  // judge computes its own. They are asked for only when all runs of the case are over, so that an implementation
  // cannot find those of its own case in memory.
  ExpectedOutputs* expected = nullptr;
};

// On input a legal problem, as fill() makes it; calls that must be refused are judged in runner/refusals.h. Never
// throws: an illegal problem, and an error in the judge itself, are BROKEN("harness: ...").
Verdict judge_case(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options);

// The same with a runner in this process.
Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options);

}  // namespace backgauge
