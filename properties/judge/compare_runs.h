// SPDX-License-Identifier: Apache-2.0
// The verdict on the calls of one case: their outputs against the expected ones, and against each other.
#pragma once

#include <functional>

#include "properties/judge/case_runs.h"
#include "properties/judge/compare/expected_outputs.h"

namespace backgauge {

// On input the runs of a session that leave something to compare (CaseRuns::verdict is not set) and whose dropout masks
// are available.
Verdict compare_runs(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected);

// The verdict on all runs of the gradient, of which `judged` judges one. `repeats`: they must be equal bit for bit.
using JudgeRun = std::function<Verdict(const RunResult&)>;
Verdict judge_gradients(const CaseRuns& runs, bool repeats, const JudgeRun& judged);

}  // namespace backgauge
