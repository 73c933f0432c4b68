// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "properties/campaign/plan/ops/draw.h"
#include "properties/campaign/plan/ops/entry.h"
#include "properties/campaign/settings/settings.h"
#include "properties/campaign/settings/values.h"

namespace backgauge::plan_ops {
namespace {

constexpr std::array kModesByUse = {BACKGAUGE_LSTM, BACKGAUGE_GRU, BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU};

void choose_mode(Case& c, std::size_t variant) { c.rnn_mode = kModesByUse[variant]; }

void take_direction(Case& c, std::size_t turn) {
  c.direction = turn % 2 == 0 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL;
}

// Long nets with a gain above 1 are chaotic. relu nets are used there: the rows of their R add up to less than 1
// (case/README.md), and their states stay bounded.
std::int64_t most_steps(const Case& c) { return c.rnn_mode == BACKGAUGE_RNN_RELU ? kAnySteps : 9; }

void add_stacked_edges(Shapes& shapes) {
  Case& base = shapes.base();
  base.layers = 2, base.direction = BACKGAUGE_BIDIRECTIONAL, base.dropout = 0.5;
  shapes.add(2, 0, 3, 5, 2);  // no batch
  shapes.add(1, 1, 1, 1, 1);
  shapes.add(3, 3, 10, 5, 3);  // I = 2H: every layer is as wide
  base.layers = 1, base.dropout = 0;
  shapes.add(2, 19, 3, 33, 2);
  shapes.add(5, 2, 0, 3, 5);  // no input
}

void take_turn(Case& c, std::size_t turn) {
  const auto mode = static_cast<std::size_t>(std::ranges::find(kModesByUse, c.rnn_mode) - kModesByUse.begin());
  take_direction(c, turn + mode);
  c.input_mode = turn % 3 == 2 ? BACKGAUGE_AUTO_SELECT : BACKGAUGE_LINEAR_INPUT;
}

// No dropout in a third of the cases, and nothing but dropout in a sixth.
double draw_dropout(Draws& draws) {
  std::vector<double> all(std::begin(kDropouts), std::end(kDropouts));
  all.insert(all.end(), {0, 0, 0, 0, 1, 1});
  return draws.pick(std::span<const double>(all));
}

void draw_stacked(Case& c, Draws& draws) {
  c.rnn_mode = draws.pick({BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU});
  c.direction = draws.pick({BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
  c.input_mode =
      draws.pick({BACKGAUGE_LINEAR_INPUT, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT});
  c.data = draw_data_profile(c, draws);
  const bool few = needs_short_nets(c.data);
  c.T = draw_size(few ? std::span(kSteps).first(2) : std::span(kSteps).first(5), draws);
  c.B = draw_size(few ? std::span(kBatches).subspan(2, 3) : std::span(kBatches).first(5), draws);
  c.H = draw_size(few ? std::span(kHidden).subspan(3, 3) : std::span(kHidden).first(8), draws);
  const bool as_wide =
      c.input_mode == BACKGAUGE_SKIP_INPUT || (c.input_mode == BACKGAUGE_AUTO_SELECT && draws.once_in(2));
  c.I = as_wide ? c.H : draw_size(std::span(kInputs).first(6), draws);
  c.layers = few ? 1 : draws.pick<std::int64_t>({1, 1, 2, 3});
  c.dropout = c.layers > 1 ? draw_dropout(draws) : 0;
}

// In a tier that is not thorough, one of the two cases is an LSTM, which has every tensor.
constexpr std::size_t kStructuredCases = 2;

void choose_structured_stacked(Case& c, const StructuredTurn& turn) {
  const std::size_t k = turn.number + turn.k;
  const bool blank = c.data == DataProfile::kBlank;
  // Only the rigorous bound applies to the other profiles. It grows with steps and layers.
  const bool deep = blank || k % 3 == 2;
  choose_mode(c, turn.thorough ? turn.variant : turn.k == 0 ? 0 : 1 + turn.number % (kModesByUse.size() - 1));
  c.direction = k % 4 == 3 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL;
  c.input_mode = k % 5 == 4 ? BACKGAUGE_SKIP_INPUT : BACKGAUGE_LINEAR_INPUT;
  c.T = blank ? 3 : 2, c.B = 3, c.H = 5;
  c.I = c.input_mode == BACKGAUGE_SKIP_INPUT || k % 2 == 1 ? 5 : 4;
  c.layers = deep ? 2 : 1;
}

}  // namespace

const Entry kCudnnRnnBackprop{
    kModesByUse.size(), choose_mode,  take_turn,    take_direction,   most_steps,
    add_stacked_edges,  add_no_shape, draw_stacked, kStructuredCases, choose_structured_stacked};

}  // namespace backgauge::plan_ops
