// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/memory_growths.h"

#include <fmt/format.h>

#include "properties/campaign/calls/usual_case.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {
namespace {

// Small, so that there are many calls: 260,000 multiplications.
constexpr UsualSize kShortCall{.steps = 4, .batch = 8, .width = 32};

// False if something is wrong, which `out` then says.
bool note(const MemoryGrowth& growth, const std::string& what, MemoryGrowths& out) {
  const std::string wrong = !growth.broken.empty() ? growth.broken : growth.fault;
  if (!wrong.empty()) {
    out.failure = fmt::format("{}: {}", what, wrong);
  } else if (!growth.unmeasured.empty()) {
    out.unmeasured.push_back(fmt::format("{}: {}", what, growth.unmeasured));
  } else if (growth.too_much()) {
    const auto calls = static_cast<double>(growth.calls), bytes = static_cast<double>(growth.bytes);
    out.failure = fmt::format("{}: resident memory grows by {:.3g} kB with each call: by {:.3g} MB in {} calls", what,
                              bytes / calls / 1e3, bytes / 1e6, growth.calls);
  } else {
    out.calls += growth.calls;
  }
  return out.failure.empty();
}

}  // namespace

MemoryGrowths measure_memory_growths(Runner& runner, const std::vector<backgauge_op>& ops) {
  MemoryGrowths out;
  for (const backgauge_op op : ops) {
    const std::optional<Claims> claims = claims_of(runner.table(), op);
    if (!claims || runner.table().memory_space != BACKGAUGE_HOST) continue;
    const Case c = usual_case(*claims, kShortCall);
    const Filled filled = fill(c);
    CaseSession session(runner, filled.problem, filled.facts);
    if (!filled.error.empty() || !session.unclaimed().empty()) continue;
    const RunOptions options;
    const std::string line = to_string(c);
    if (session.has_forward()) {
      // If the forward fails, the cases of the tier report it.
      if (verdict_of_failed_run(session.forward(options))) continue;
      const MemoryGrowth growth = runner.memory_growth(session.forward_problem(), {}, options);
      if (!note(growth, "the forward of " + line, out)) break;
    }
    const MemoryGrowth growth = runner.memory_growth(filled.problem, session.made(), session.gradient_options(options));
    runner.end_case();
    if (!note(growth, line, out)) break;
  }
  return out;
}

}  // namespace backgauge
