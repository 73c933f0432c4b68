// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/crowd.h"

#include <fmt/format.h>

#include "properties/campaign/calls/configurations.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

// A configuration in sizes and values that let every input change the outputs: a thread that overwrites what another
// one is using must be noticed. Inputs without elements, a gap that drops everything, or equal or tiny values hide it.
// A call takes some tens of microseconds, long enough to be interrupted.
Case revealing(Case c) {
  c.data = DataProfile::kStratified;
  set_steps(c, 5, 5);
  c.B = 8;
  c.H = 24;
  c.I = c.input_mode == BACKGAUGE_SKIP_INPUT ? c.H : 12;
  if (c.dropout >= 1) c.dropout = 0.5;
  return c;
}

// A call, and what is needed to judge it.
struct Called {
  Case c;
  Filled filled;
  std::optional<Claims> claims;
};

// "" if concurrent calls can be compared with anything, otherwise why not.
std::string incomparable(const Runner& runner, const Called& called) {
  const Problem& problem = called.filled.problem;
  if (!called.filled.error.empty()) return called.filled.error;
  if (std::string lack = lack_of_device(runner.table()); !lack.empty()) return lack;
  if (std::string why = unclaimed(called.claims, problem, called.filled.facts); !why.empty()) return why;
  if (!has_random_dropout(problem)) return "";
  if (called.claims->dropout_has_state[problem.dtype]) return std::string(kMasksWithState);
  const bool repeats = called.claims->determinism[problem.dtype] != BACKGAUGE_NOT_DETERMINISTIC;
  return repeats || runner.table().dropout_mask != nullptr ? "" : "neither masks nor bits can be compared";
}

TogetherCall call_of(const Called& called, std::int32_t num_threads) {
  TogetherCall call;
  call.problem = called.filled.problem;
  call.options.num_threads = num_threads;
  call.options.placement = Placement(called.c.seed);
  call.repeats = called.claims->determinism[call.problem.dtype] != BACKGAUGE_NOT_DETERMINISTIC;
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
  if (called.size() < 2) return {{Status::kSkipped, "fewer than two cases for concurrent calls: " + reason, {}}};
  std::vector<TogetherCall> calls;
  for (const Called& one : called) calls.push_back(call_of(one, num_threads));
  const Together together = runner.run_together(calls);
  const RunResult end = runner.end_case();

  CrowdVerdict out{{Status::kPassed, "", {}}, together.calls, together.overlapped};
  const auto at_once = [&](std::uint64_t thread, const std::string& what) {
    return fmt::format("in concurrent calls: {}: {}", to_string(called[thread].c), what);
  };
  if (!together.broken.empty()) {
    out.verdict = {Status::kBroken, together.broken, {}};
  } else if (!together.fault.empty()) {
    out.verdict = failed(at_once(together.thread, together.fault));
  } else if (!end.violations.empty()) {
    out.verdict = failed("in concurrent calls: " + end.violations.front());
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
  if (out.verdict.status == Status::kPassed && !together.is_enough()) {
    out.verdict = {Status::kMistrusted,
                   fmt::format("of the calls of one thread only {} have overlapped another thread's, expected {}",
                               together.fewest, together.enough),
                   {}};
  }
  return out;
}

std::string at_once_words(const std::vector<Case>& cases) {
  std::string out = "repro: backgauge repro";
  for (const Case& c : cases) out += fmt::format("{}'{}'", &c == &cases.front() ? " " : " --concurrent=", to_string(c));
  return out;
}

std::vector<std::vector<Case>> crowd_sets(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed) {
  std::vector<std::vector<Case>> sets;
  if (ops.empty()) return sets;
  Configurations configurations(ops, seed, "crowd");
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::vector<Case> set = {revealing(configurations.draw()), revealing(configurations.draw(ops[k % ops.size()]))};
    set.push_back(configurations.sibling_of(set.back(), k));
    set.push_back(configurations.with_other_values(set.back()));
    sets.push_back(std::move(set));
  }
  return sets;
}

Crowd crowd(Runner& runner, const CrowdOptions& options) {
  Crowd out;
  out.worst = {Status::kPassed, "", {}};
  for (const std::vector<Case>& set : crowd_sets(options.ops, options.sets, options.seed)) {
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
