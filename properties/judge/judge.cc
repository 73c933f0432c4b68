// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/judge.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "properties/judge/case_runs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/compare_runs.h"
#include "properties/judge/compare_without_masks.h"

namespace backgauge {
namespace {

// The verdict on a call that the contract refuses: the implementation must refuse it, too.
Verdict judge_refused_call(const CaseSession& session, const Problem& problem, const JudgeOptions& options) {
  RunOptions run_options;
  run_options.num_threads = options.num_threads;
  run_options.placement = Placement(options.seed);
  const RunResult result =
      session.runner().run(problem, absent_inputs(problem), session.gradient_options(std::move(run_options)));
  if (!result.violations.empty()) return failed(result.violations.front());
  if (!result.broken.empty()) return {Status::kBroken, result.broken, {}};
  if (result.status == BACKGAUGE_INVALID_ARGUMENT) return {Status::kPassed, "", {}};
  return failed(fmt::format("{} returned {} for a call that must be refused: {}", result.function,
                            call_status_word(result.status), result.refusal));
}

// For the forward of a problem and for its gradient, as far as the contract refuses them.
Verdict judge_refusal(CaseSession& session, const JudgeOptions& options) {
  if (session.has_forward() && session.runner().table().forward != nullptr) {
    const Problem& forward = session.forward_problem();
    if (!refusal_of(forward).empty()) {
      if (Verdict verdict = judge_refused_call(session, forward, options); verdict.status != Status::kPassed) {
        return verdict;
      }
    }
  }
  return judge_refused_call(session, session.problem(), options);
}

Verdict judge(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options) {
  const backgauge_implementation& table = runner.table();
  if (std::string lack = lack_of_device(table); !lack.empty()) return {Status::kSkipped, std::move(lack), {}};
  const bool legal = refusal_of(problem).empty();
  CaseSession session(runner, problem, facts);
  if (session.claims() == nullptr || legal) {
    std::string reason = session.unclaimed();
    if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};
  }
  if (table.run == nullptr) return failed("has no run function");
  if (!legal) return judge_refusal(session, options);

  const CaseRuns runs = make_runs(session, options.seed, options.num_threads);
  if (runs.verdict) return *runs.verdict;
  ExpectedOutputs own(facts);
  ExpectedOutputs& expected = options.expected != nullptr ? *options.expected : own;
  return runs.masks_available ? compare_runs(session, runs, expected)
                              : compare_runs_without_masks(session, runs, expected, options.seed);
}

Verdict harness_error(const std::exception& error) {
  return broken(dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what());
}

}  // namespace

Verdict judge_case(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options) {
  Verdict verdict;
  try {
    verdict = judge(runner, problem, facts, options);
  } catch (const std::exception& error) {
    verdict = harness_error(error);
  }
  try {
    const Runner::CaseEnd end = runner.end_case();
    RunResult late;
    late.status = BACKGAUGE_OK;
    late.violations = end.violations;
    late.broken = end.broken;
    if (auto more = verdict_of_failed_run(late); more && verdict.status != Status::kFailed) return *more;
  } catch (const std::exception& error) {
    if (verdict.status != Status::kFailed) return harness_error(error);
  }
  return verdict;
}

Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options) {
  InProcessRunner runner(implementation);
  return judge_case(runner, problem, facts, options);
}

}  // namespace backgauge
