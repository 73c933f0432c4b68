// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare_runs.h"

#include <functional>

#include "properties/judge/adjoint/adjoint.h"
#include "properties/judge/compare/additions.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

using JudgeRun = std::function<Verdict(const RunResult&)>;

// What is wrong with another run of the same problem: it must be equal to the first bit for bit or, if that is not
// claimed, within bounds.
std::optional<Verdict> against_first(const RunResult& first, const RunResult& other, const std::string& how,
                                     bool repeats, const JudgeRun& judged) {
  const std::string difference = first_difference(first.outputs, other.outputs);
  if (difference.empty()) return std::nullopt;
  if (repeats) return failed(how + ": " + difference);
  Verdict verdict = judged(other);
  if (verdict.status != Status::kFailed) return std::nullopt;
  verdict.reason = how + ": " + verdict.reason;
  return verdict;
}

// What is not the same in two calls that differ in nothing, if that is claimed.
std::optional<Verdict> difference_between_equal_calls(const CaseRuns& runs, bool repeats) {
  if (!repeats || runs.again.empty()) return std::nullopt;
  const RunResult* const before[] = {&runs.first, &*runs.shared};
  for (std::size_t k = 0; k < runs.again.size(); ++k) {
    if (auto wrong = verdict_of_failed_run(runs.again[k])) return wrong;
    const std::string difference = first_difference(before[k]->outputs, runs.again[k].outputs);
    if (!difference.empty()) return failed("not repeatable: " + difference);
  }
  return std::nullopt;
}

// The verdict on all runs of the gradient, of which `judged` judges one. `repeats`: they must be equal bit for bit.
Verdict judge_gradients(const CaseRuns& runs, bool repeats, const JudgeRun& judged) {
  Verdict verdict = judged(runs.first);
  if (verdict.status == Status::kFailed) return verdict;
  const std::string again = repeats ? "not repeatable" : "second run";
  if (auto wrong = verdict_of_failed_run(runs.second)) return *wrong;
  if (auto wrong = against_first(runs.first, runs.second, again, repeats, judged)) return *wrong;
  if (!runs.shared) return verdict;
  if (auto wrong = verdict_of_failed_run(*runs.shared)) {
    wrong->reason = runs.sharing + ": " + wrong->reason;
    return *wrong;
  }
  if (auto wrong = difference_between_equal_calls(runs, repeats)) return *wrong;
  if (auto wrong = against_first(runs.first, *runs.shared, runs.sharing, repeats, judged)) return *wrong;
  return verdict;
}

}  // namespace

Verdict compare_runs(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected) {
  Verdict verdict{Status::kPassed, "", {}};
  if (session.has_forward()) {
    const Declared declared = session.declared();
    const std::vector<Wanted>& wanted = expected.forward(session.problem(), declared);
    std::vector<TensorReport> reports =
        compare_outputs(runs.forward.outputs, wanted, session.forward_problem(), declared);
    if (runs.forward_again) {
      mark_additions(reports, runs.forward.outputs, runs.forward_again->outputs, wanted, session.forward_problem());
    }
    verdict = conclude(std::move(reports));
    if (verdict.status == Status::kFailed) return verdict;
  }
  if (runs.failure) return *runs.failure;
  const Declared declared = session.declared();
  const std::vector<Wanted>& wanted = expected.gradient(session.problem(), declared);
  Verdict gradient = judge_gradients(runs, session.repeats(), [&](const RunResult& run) {
    std::vector<TensorReport> reports = compare_outputs(run.outputs, wanted, session.problem(), declared);
    if (&run == &runs.first) mark_additions(reports, run.outputs, runs.second.outputs, wanted, session.problem());
    return conclude(std::move(reports));
  });
  if (!session.has_forward() || gradient.tensors.empty()) return gradient;  // without tensors the reason says why
  verdict.tensors.insert(verdict.tensors.end(), gradient.tensors.begin(), gradient.tensors.end());
  verdict = conclude(std::move(verdict.tensors));
  if (session.changes_masks()) {
    verdict.note = std::string(kMasksWithState) + (verdict.note.empty() ? "" : "; ") + verdict.note;
  }
  return verdict;
}

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
