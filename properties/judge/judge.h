// SPDX-License-Identifier: Apache-2.0
// Judges an implementation on one problem, end to end. README.md lists the checks in their order.
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
  // Computes the expected values. It is called only when all runs of the case are over, so that an implementation
  // cannot find them in memory.
  std::function<std::vector<Wanted>(const Problem&, const Declared&, RoundingErrors)> oracle = backgauge::oracle;
};

// On input a problem as fill() makes it. If the contract refuses it, the implementation must refuse it too. Never
// throws: an error in the judge itself is BROKEN("harness: ...").
Verdict judge_case(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options);

// The same with a runner in this process.
Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options);

}  // namespace backgauge
