// SPDX-License-Identifier: Apache-2.0
#include "ci/shrinking.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/command.h"
#include "ci/interrupt.h"
#include "ci/judging.h"
#include "ci/likeness.h"
#include "properties/campaign/shrink.h"
#include "properties/case/inputs.h"
#include "properties/case/regressions.h"
#include "properties/judge/claims.h"
#include "properties/judge/hint.h"
#include "properties/judge/runner.h"

namespace backgauge::cli {
namespace {

// Whether hundreds of slow implementations can be tried on it within seconds: 2^20 products each are some.
bool is_quick(const Problem& problem) {
  const Extents& e = problem.extents;
  constexpr std::int64_t kMostProducts = 1 << 20;
  return e.T * e.B * e.L * e.D * e.H * (e.I + e.H) <= kMostProducts;
}

}  // namespace

ShrunkFailure shrink_failure(Runner& runner, const Case& c, const Record& record, int num_threads) {
  const std::string failure = failure_of(record.verdict);
  runner.forget_timeouts();  // the limit on time is the shrinker's here
  const auto judge = [&](const Case& candidate) { return judge_line(runner, candidate, num_threads).verdict; };
  const Shrunk shrunk = shrink(c, failure, judge, ShrinkLimits{}, interrupted);
  ShrunkFailure out{
      record, shrunk.flaky,
      fmt::format("{} runs, {:.1f} s{}", shrunk.executions, shrunk.seconds, shrunk.finished ? "" : ", unfinished")};
  if (shrunk.flaky || shrunk.plainest == c) return out;
  Record plainest = judge_line(runner, shrunk.plainest, num_threads);
  if (failure_of(plainest.verdict) != failure) {
    out.flaky = true;
    return out;
  }
  plainest.shrunk_from = record.id;
  plainest.plan = record.plan;
  out.record = std::move(plainest);
  return out;
}

std::string hint_of(Runner& runner, const Case& c, const Verdict& verdict, int num_threads) {
  const auto bad = std::ranges::find_if(verdict.tensors, [](const TensorReport& tensor) { return tensor.bad > 0; });
  const backgauge_op_claims* claims = claims_of(runner.table(), c.op);
  if (bad == verdict.tensors.end() || !failure_of(verdict).ends_with(" value") || claims == nullptr) return "";
  if (c.data == DataClass::kMalformed) return "";
  const Filled filled = fill(c);
  const Problem& problem = filled.problem;
  if (!filled.error.empty() || has_random_dropout(problem)) return "";
  RunOptions options;
  options.num_threads = num_threads;
  const RunResult result = run_gradient(runner, problem, options);
  const std::vector<Wanted> wanted = oracle(problem, declared(*claims, problem.dtype),
                                            filled.facts.structured ? Values::kStructured : Values::kRandom);
  const auto output = std::ranges::find(result.outputs, bad->name, [](const Output& o) { return o.raw.name; });
  const auto place = std::ranges::find(wanted, bad->name, &Wanted::name);
  if (output == result.outputs.end() || place == wanted.end()) return "";
  const std::string term = hint(problem, wanted, static_cast<std::size_t>(place - wanted.begin()), output->values);
  return term.empty() && is_quick(problem) ? likeness(problem, wanted, result.outputs) : term;
}

bool keep_regression(const std::string& file, const std::string& line) {
  std::string error;
  if (add_regression(file, line, error)) {
    fmt::print("  kept in {}\n", file);
    return true;
  }
  fmt::print(stderr, "backgauge: --add-regression: {}\n", error);
  return false;
}

void FailureKinds::add(std::size_t index, const Record& record) {
  const std::string failure = failure_of(record.verdict);
  if (failure.empty()) return;
  const std::string text = record.op + " " + failure;
  auto kind = std::ranges::find(kinds_, text, &Kind::text);
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {text, index, 0});
  ++kind->cases;
}

}  // namespace backgauge::cli
