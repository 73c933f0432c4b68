// SPDX-License-Identifier: Apache-2.0
// Judges an implementation on one problem, end to end. README.md says what is checked, in which order.
#pragma once

#include <functional>

#include "properties/case/inputs.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge {

struct JudgeOptions {
  std::uint64_t seed = 0;  // of the placement in memory
  std::int32_t num_threads = 1;
  // What is right. Asked when all runs of the case are over: an implementation finds nothing in memory.
  std::function<std::vector<Wanted>(const Problem&, const Declared&, RoundingErrors)> oracle = backgauge::oracle;
};

// On input a problem as fill() makes it, also one that the contract refuses: then the implementation must refuse it.
// Never throws: trouble of the judge itself is BROKEN("harness: ...").
Verdict judge_case(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options);

// The same in this process.
Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options);

}  // namespace backgauge
