// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/crowd.h"

#include <fmt/format.h>

#include "properties/campaign/walk.h"
#include "properties/case/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

// Two that differ, and two that differ only in their values: the latter reveal what is shared by size or by address. On
// a small machine more threads would only wait for each other.
constexpr std::size_t kThreads = 4;

// A call, and what is needed to judge it.
struct Called {
  Case c;
  Filled filled;
  const backgauge_op_claims* claims;
};

// "" if concurrent calls can be compared with anything, otherwise why not.
std::string incomparable(const Runner& runner, const Called& called) {
  const Problem& problem = called.filled.problem;
  if (!called.filled.error.empty()) return called.filled.error;
  if (std::string why = unclaimed(called.claims, problem, called.filled.facts); !why.empty()) return why;
  if (!has_random_dropout(problem)) return "";
  if (called.claims->dropout_has_state != 0) return std::string(kMasksWithState);
  const bool repeats = called.claims->determinism != BACKGAUGE_NOT_DETERMINISTIC;
  return repeats || runner.table().dropout_mask != nullptr ? "" : "neither masks nor bits can be compared";
}

TogetherCall call_of(const Called& called, std::int32_t num_threads) {
  TogetherCall call;
  call.problem = called.filled.problem;
  call.options.num_threads = num_threads;
  call.options.placement = Placement(called.c.seed);
  call.repeats = called.claims->determinism != BACKGAUGE_NOT_DETERMINISTIC;
  return call;
}

// For outputs that may differ from those of the call alone, as far as the oracle allows.
Verdict judge_stray(const Called& called, const Together::Stray& stray) {
  Problem problem = called.filled.problem;
  problem.keep = stray.keep;
  if (stray.keep.empty() && has_random_dropout(problem)) return {Status::kPassed, "", {}};  // masks not available
  const Declared declaration = declared(*called.claims, problem.dtype);
  ExpectedOutputs expected(called.filled.facts);
  const std::vector<Wanted>& wanted =
      stray.forward != 0 ? expected.forward(problem, declaration) : expected.gradient(problem, declaration);
  return conclude(compare_outputs(stray.outputs, wanted, problem, declaration));
}

}  // namespace

CrowdVerdict judge_at_once(Runner& runner, const std::vector<Case>& cases, std::int32_t num_threads) {
  std::vector<Called> called;
  std::string reason;
  for (const Case& c : cases) {
    Called one{c, fill(c), claims_of(runner.table(), c.op)};
    const std::string why = incomparable(runner, one);
    if (why.empty()) {
      called.push_back(std::move(one));
    } else {
      reason = why;
    }
  }
  if (called.size() < 2) return {{Status::kSkipped, "fewer than two cases to be called at once: " + reason, {}}};
  std::vector<TogetherCall> calls;
  for (const Called& one : called) calls.push_back(call_of(one, num_threads));
  const Together together = runner.run_together(calls);
  const Runner::CaseEnd end = runner.end_case();

  CrowdVerdict out{{Status::kPassed, "", {}}, together.calls, together.overlapped};
  const auto at_once = [&](std::uint64_t thread, const std::string& what) {
    return fmt::format("called at once with others: {}: {}", to_string(called[thread].c), what);
  };
  if (!together.broken.empty()) {
    out.verdict = {Status::kBroken, together.broken, {}};
  } else if (!together.fault.empty()) {
    out.verdict = failed(at_once(together.thread, together.fault));
  } else if (!end.violations.empty()) {
    out.verdict = failed("called at once: " + end.violations.front());
  } else if (!end.broken.empty()) {
    out.verdict = {Status::kBroken, end.broken, {}};
  }
  for (const Together::Stray& stray : together.strays) {
    if (out.verdict.status != Status::kPassed) break;
    Verdict verdict = judge_stray(called[stray.thread], stray);
    if (verdict.status != Status::kFailed) continue;
    verdict.reason = at_once(stray.thread, verdict.reason);
    out.verdict = std::move(verdict);
  }
  if (out.verdict.status == Status::kPassed && !together.enough()) {
    out.verdict = {Status::kMistrusted,
                   fmt::format("only {} of {} calls have overlapped another one, expected {}", together.overlapped,
                               together.calls, Together::kEnough),
                   {}};
  }
  return out;
}

std::string at_once_words(const std::vector<Case>& cases) {
  std::string out = "repro: backgauge repro";
  for (const Case& c : cases) out += fmt::format("{}'{}'", &c == &cases.front() ? " " : " --concurrent=", to_string(c));
  return out;
}

Crowd crowd(Runner& runner, const CrowdOptions& options) {
  const std::vector<Case> all =
      walk_configurations(options.ops, static_cast<int>(kThreads) * options.sets, options.seed ^ 0xc4);
  Crowd out;
  out.worst = {Status::kPassed, "", {}};
  for (std::size_t begin = 0; begin + kThreads <= all.size(); begin += kThreads) {
    const std::vector<Case> set(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                all.begin() + static_cast<std::ptrdiff_t>(begin + kThreads));
    CrowdVerdict judged = judge_at_once(runner, set, options.num_threads);
    if (judged.verdict.status == Status::kSkipped) continue;
    ++out.sets;
    out.calls += judged.calls;
    out.overlapped += judged.overlapped;
    if (judged.verdict.status == Status::kPassed || out.worst.status != Status::kPassed) continue;
    out.worst = std::move(judged.verdict);
    out.cases = set;
    if (out.worst.status != Status::kMistrusted) break;
  }
  return out;
}

}  // namespace backgauge
