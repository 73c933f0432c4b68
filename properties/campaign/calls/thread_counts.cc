// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/thread_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "properties/campaign/calls/usual_case.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {
namespace {

// With more threads than processors, a surplus thread cannot be distinguished from one that waits for its turn. Two are
// asked for on every machine, more only where a surplus one has a processor.
constexpr std::int32_t kThreads[] = {1, 2, 3, 16, 33};
constexpr std::int32_t kAlways = 2;

bool can_be_measured(std::int32_t threads) {
  return threads <= kAlways || static_cast<unsigned>(threads) < std::thread::hardware_concurrency();
}

// Large enough that a call takes longer than waking a thread: ten million multiplications.
constexpr UsualSize kLongCall{.steps = 8, .batch = 32, .width = 64};

}  // namespace

ThreadCounts count_threads(Runner& runner, const std::vector<backgauge_op>& ops) {
  ThreadCounts out;
  for (const backgauge_op op : ops) {
    const std::optional<Claims> claims = claims_of(runner.table(), op);
    if (!claims || runner.table().memory_space != BACKGAUGE_HOST) continue;
    const Case c = usual_case(*claims, kLongCall);
    const Filled filled = fill(c);
    CaseSession session(runner, filled.problem, filled.facts);
    if (!filled.error.empty() || !session.unclaimed().empty()) continue;
    for (const std::int32_t threads : kThreads) {
      if (!can_be_measured(threads)) continue;
      RunOptions options;
      options.num_threads = threads;
      // If the forward fails, the cases of the tier report it.
      if (session.has_forward() && verdict_of_failed_run(session.forward(options))) continue;
      const ThreadUse use = runner.thread_use(filled.problem, session.made(), session.gradient_options(options));
      runner.end_case();
      const std::string what = fmt::format("{} with num_threads = {}", to_string(c), threads);
      const std::string wrong = !use.broken.empty() ? use.broken : use.fault;
      if (!wrong.empty()) {
        out.failure = fmt::format("{}: {}", what, wrong);
        return out;
      }
      if (!use.unmeasured.empty()) {
        out.unmeasured.push_back(fmt::format("{}: {}", what, use.unmeasured));
        continue;
      }
      ++out.calls;
      out.worst = std::max(out.worst, use.busy / threads);
      if (!use.too_many(threads)) continue;
      out.failure = fmt::format("{} keeps {:.1f} threads busy", what, use.busy);
      return out;
    }
  }
  return out;
}

}  // namespace backgauge
