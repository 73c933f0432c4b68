// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare_runs.h"

#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

// Compares runs of the gradient with the first one.
class RunsComparison {
 public:
  RunsComparison(const CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected)
      : session_(session),
        runs_(runs),
        declared_(session.declared()),
        wanted_(expected.gradient(session.problem(), declared_)) {}

  Verdict verdict() const {
    Verdict verdict = against_expected(runs_.first);
    if (verdict.status == Status::kFailed) return verdict;
    if (auto again = verdict_of_failed_run(runs_.second)) return *again;
    if (auto again = against_first(runs_.second, session_.repeats() ? "not repeatable" : "second run")) return *again;
    if (!runs_.shared) return verdict;
    if (auto shared = verdict_of_failed_run(*runs_.shared)) {
      shared->reason = runs_.sharing + ": " + shared->reason;
      return *shared;
    }
    if (auto shared = against_first(*runs_.shared, runs_.sharing)) return *shared;
    return verdict;
  }

 private:
  Verdict against_expected(const RunResult& run) const {
    return conclude(compare_outputs(run.outputs, wanted_, session_.problem(), declared_));
  }

  // What is wrong with another run of the same problem: it must be equal to the first bit for bit or, if that is not
  // claimed, within bounds.
  std::optional<Verdict> against_first(const RunResult& other, const std::string& how) const {
    const std::string difference = first_difference(runs_.first.outputs, other.outputs);
    if (difference.empty()) return std::nullopt;
    if (session_.repeats()) return failed(how + ": " + difference);
    Verdict verdict = against_expected(other);
    if (verdict.status != Status::kFailed) return std::nullopt;
    verdict.reason = how + ": " + verdict.reason;
    return verdict;
  }

  const CaseSession& session_;
  const CaseRuns& runs_;
  const Declared declared_;
  const std::vector<Wanted>& wanted_;
};

}  // namespace

Verdict compare_runs(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected) {
  Verdict verdict{Status::kPassed, "", {}};
  if (session.has_forward()) {
    const Declared declared = session.declared();
    verdict = conclude(compare_outputs(runs.forward.outputs, expected.forward(session.problem(), declared),
                                       session.forward_problem(), declared));
    if (verdict.status == Status::kFailed) return verdict;
  }
  if (runs.failure) return *runs.failure;
  Verdict gradient = RunsComparison(session, runs, expected).verdict();
  if (!session.has_forward() || gradient.tensors.empty()) return gradient;  // without tensors the reason says why
  verdict.tensors.insert(verdict.tensors.end(), gradient.tensors.begin(), gradient.tensors.end());
  verdict = conclude(std::move(verdict.tensors));
  if (session.changes_masks()) {
    verdict.note = std::string(kMasksWithState) + (verdict.note.empty() ? "" : "; ") + verdict.note;
  }
  return verdict;
}

}  // namespace backgauge
