// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/judge.h"

#include <exception>
#include <new>

#include "properties/judge/case_runs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/compare_runs.h"

namespace backgauge {
namespace {

Verdict judge(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options) {
  const backgauge_implementation& table = runner.table();
  if (std::string lack = lack_of_device(table); !lack.empty()) return {Status::kSkipped, std::move(lack), {}};
  CaseSession session(runner, problem, facts);
  std::string reason = session.unclaimed();
  if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};
  if (table.run == nullptr) return failed("has no run function");

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
    const auto late = verdict_of_failed_run(runner.end_case());
    if (late && verdict.status != Status::kFailed) return *late;
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
