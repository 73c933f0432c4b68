// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/determinism_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/line/case.h"
#include "properties/judge/compare/claims.h"

namespace backgauge::cli {
namespace {

// Wide enough for seven threads, with sizes that they cannot share evenly; without random dropout, so that no masks are
// needed.
constexpr const char* kCases[] = {"lstm_block_cell_grad b17i13h33 peep=1 dt=f32 data=strat:0x1",
                                  "lstm_block_cell_grad b64i5h64 peep=0 dt=f32 data=strat:0x2",
                                  "lstm_block_cell_grad b17i13h33 peep=1 dt=f16 data=strat:0x3",
                                  "lstm_block_cell_grad b3i2h5 peep=0 dt=f16 data=scales:0x4",
                                  "block_lstm_grad_v2 t5b17i13h33 peep=1 seq=4 dt=f32 data=strat:0x1",
                                  "block_lstm_grad_v2 t3b64i5h48 peep=0 dt=f32 data=strat:0x2",
                                  "block_lstm_grad_v2 t5b17i13h33 peep=1 dt=f16 data=strat:0x3",
                                  "block_lstm_grad_v2 t7b2i3h5 peep=1 seq=3 dt=f32 data=scales:0x4",
                                  "cudnn_rnn_backprop t5b17i13h19 mode=lstm dir=bi layers=2 dt=f32 data=strat:0x1",
                                  "cudnn_rnn_backprop t3b17i13h19 mode=gru dir=bi layers=2 dt=f16 data=strat:0x2",
                                  "cudnn_rnn_backprop t5b7i19h19 mode=tanh in=skip dt=f64 data=strat:0x3",
                                  "cudnn_rnn_backprop t3b5i3h7 mode=relu layers=3 drop=1 dt=f32 data=strat:0x4"};

}  // namespace

std::vector<OpDeterminism> measure_determinism(Runner& runner, const std::vector<backgauge_op>& ops) {
  std::vector<OpDeterminism> out;
  if (!lack_of_device(runner.table()).empty()) return out;
  for (const char* line : kCases) {
    std::string error;
    const Case c = parse_case(line, error).value();
    const std::optional<Claims> claims = claims_of(runner.table(), c.op);
    if (interrupted() || !claims || std::ranges::find(ops, c.op) == ops.end()) continue;
    const Filled filled = fill(c);
    if (!unclaimed(claims, filled.problem, filled.facts).empty()) continue;
    const InFlight in_flight(line);
    const Repeats repeats = backgauge::measure_determinism(runner, filled.problem, c.seed);
    if (repeats.runs == 0) continue;  // verify judges calls that fail
    auto found = std::ranges::find(out, c.op, &OpDeterminism::op);
    if (found == out.end()) {
      found = out.insert(found, {.op = c.op, .claimed = claims->determinism[c.dtype], .difference = ""});
    }
    ++found->cases;
    found->runs += repeats.runs;
    if (repeats.measured > found->measured) {
      found->measured = repeats.measured;
      found->difference = fmt::format("{}\n    {}", repeats.difference, line);
    }
  }
  return out;
}

}  // namespace backgauge::cli
