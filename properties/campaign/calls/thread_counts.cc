// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/thread_counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {
namespace {

// With more threads than processors, a surplus thread cannot be distinguished from one that waits for its turn.
constexpr std::int32_t kThreads[] = {1, 2};

// The first enumerator in a set, or the first of all if none is.
template <class Enumerator>
Enumerator first_of(std::uint32_t set, std::initializer_list<Enumerator> all) {
  const auto found = std::ranges::find_if(all, [&](Enumerator each) { return (set & BACKGAUGE_BIT(each)) != 0; });
  return found == all.end() ? *all.begin() : *found;
}

// A claimed case, large enough that a call takes longer than waking a thread: ten million multiplications.
Case case_for(const Claims& claims) {
  Case c;
  c.op = claims.spec().op;
  c.dtype =
      first_of(claims.dtypes[kEveryDtype], {BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_HALF, BACKGAUGE_BFLOAT16});
  c.B = 32;
  c.I = c.H = 64;
  c.seed = 1;
  set_steps(c, 8, 8);
  // The set of an attribute that the op does not have is empty.
  c.rnn_mode =
      first_of(claims.rnn_modes[c.dtype], {BACKGAUGE_LSTM, BACKGAUGE_GRU, BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU});
  c.direction = first_of(claims.directions[c.dtype], {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
  c.input_mode = first_of(claims.input_modes[c.dtype], {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT});
  c.use_peephole = first_of(claims.use_peephole[c.dtype], {0, 1}) == 1;
  return c;
}

}  // namespace

ThreadCounts count_threads(Runner& runner, const std::vector<backgauge_op>& ops) {
  ThreadCounts out;
  for (const backgauge_op op : ops) {
    const std::optional<Claims> claims = claims_of(runner.table(), op);
    if (!claims || runner.table().memory_space != BACKGAUGE_HOST) continue;
    const Case c = case_for(*claims);
    const Filled filled = fill(c);
    CaseSession session(runner, filled.problem, filled.facts);
    if (!filled.error.empty() || !session.unclaimed().empty()) continue;
    for (const std::int32_t threads : kThreads) {
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
