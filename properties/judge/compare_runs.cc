// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare_runs.h"

#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

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

}  // namespace

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
  if (auto wrong = against_first(runs.first, *runs.shared, runs.sharing, repeats, judged)) return *wrong;
  return verdict;
}

Verdict compare_runs(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected) {
  Verdict verdict{Status::kPassed, "", {}};
  if (session.has_forward()) {
    const Declared declared = session.declared();
    verdict = conclude(compare_outputs(runs.forward.outputs, expected.forward(session.problem(), declared),
                                       session.forward_problem(), declared));
    if (verdict.status == Status::kFailed) return verdict;
  }
  if (runs.failure) return *runs.failure;
  const Declared declared = session.declared();
  const std::vector<Wanted>& wanted = expected.gradient(session.problem(), declared);
  Verdict gradient = judge_gradients(runs, session.repeats(), [&](const RunResult& run) {
    return conclude(compare_outputs(run.outputs, wanted, session.problem(), declared));
  });
  if (!session.has_forward() || gradient.tensors.empty()) return gradient;  // without tensors the reason says why
  verdict.tensors.insert(verdict.tensors.end(), gradient.tensors.begin(), gradient.tensors.end());
  verdict = conclude(std::move(verdict.tensors));
  if (session.changes_masks()) {
    verdict.note = std::string(kMasksWithState) + (verdict.note.empty() ? "" : "; ") + verdict.note;
  }
  return verdict;
}

}  // namespace backgauge
