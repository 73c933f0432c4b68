// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare_without_masks.h"

#include "properties/judge/adjoint/adjoint.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/compare_runs.h"

namespace backgauge {

Verdict compare_runs_without_masks(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected,
                                   std::uint64_t seed) {
  if (runs.failure) return *runs.failure;
  const Problem& problem = session.problem();
  const Declared declared = session.declared();
  RunOptions elsewhere = runs.options;
  elsewhere.placement = runs.options.placement.opposite();
  const RunResult again = session.repeat_forward(elsewhere);
  if (auto verdict = verdict_of_failed_run(again)) return *verdict;
  const MaskFreeReference known = mask_free_reference(problem, expected, declared, seed);
  Slopes slopes;
  if (known.in_range) {
    slopes = measure_slopes(session.runner(), problem, runs.forward.outputs, declared, runs.options, seed);
  }
  if (slopes.failure) return *slopes.failure;

  const bool repeats = session.repeats();
  if (const std::string change = changed(runs.forward, again, known, repeats, problem.dtype); !change.empty()) {
    return failed("masks that are not available must be the same in every forward of the same call: " + change);
  }
  const std::vector<TensorReport> forward_reports =
      compare_outputs(runs.forward.outputs, known.forward, session.forward_problem(), declared);
  Verdict verdict = judge_gradients(runs, repeats, [&](const RunResult& run) {
    return judge_along(slopes, problem, run.outputs, known, expected.rounding_errors(), declared, forward_reports);
  });
  if (known.in_range || verdict.status == Status::kFailed || verdict.status == Status::kBroken) return verdict;
  return {Status::kSkipped,
          "masks not available, and the adjoint identity does not apply: values are not finite or near overflow",
          {}};
}

}  // namespace backgauge
