// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/determinism_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
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

struct Measured {
  const char* line;
  Case c;
  Filled filled;
  std::optional<DeterminismMeter> meter{};
};

}  // namespace

std::vector<OpDeterminism> measure_determinism(Runner& runner, const std::vector<backgauge_op>& ops) {
  if (!lack_of_device(runner.table()).empty()) return {};
  std::deque<Measured> measured;  // meters refer to the problems in it
  for (const char* line : kCases) {
    std::string error;
    const Case c = parse_case(line, error).value();
    const std::optional<Claims> claims = claims_of(runner.table(), c.op);
    if (interrupted() || !claims || std::ranges::find(ops, c.op) == ops.end()) continue;
    Filled filled = fill(c);
    if (!unclaimed(claims, filled.problem, filled.facts).empty()) continue;
    const InFlight in_flight(line);
    Measured& each = measured.emplace_back(line, c, std::move(filled));
    each.meter.emplace(runner, each.filled.problem, c.seed);
    each.meter->measure();
    runner.end_case();
  }
  // A process may take seconds to start, so one serves all.
  if (!interrupted() && runner.renew()) {
    for (Measured& each : measured) {
      const InFlight in_flight(each.line);
      if (!interrupted()) each.meter->measure_in_another_process();
    }
  }
  std::vector<OpDeterminism> out;
  for (const Measured& each : measured) {
    const Repeats& repeats = each.meter->repeats();
    if (repeats.runs == 0) continue;  // verify judges calls that fail
    auto found = std::ranges::find(out, each.c.op, &OpDeterminism::op);
    if (found == out.end()) {
      const std::int32_t claimed = claims_of(runner.table(), each.c.op)->determinism[each.c.dtype];
      found = out.insert(found,
                         {.op = each.c.op, .claimed = static_cast<backgauge_determinism>(claimed), .difference = ""});
    }
    ++found->cases;
    found->runs += repeats.runs;
    if (repeats.measured > found->measured) {
      found->measured = repeats.measured;
      found->difference = fmt::format("{}\n    {}", repeats.difference, each.line);
    }
  }
  return out;
}

}  // namespace backgauge::cli
