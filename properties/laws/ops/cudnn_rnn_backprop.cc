// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/answer.h"
#include "properties/laws/ops/stacked.h"
#include "properties/laws/subnet.h"

namespace backgauge::law_ops {
namespace {

void draw_mode(CaseDraw& draw, Case& c) {
  c.rnn_mode = draw.one_of<backgauge_rnn_mode>({BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU});
}

void draw_stacked_settings(CaseDraw& draw, Case& c) {
  c.direction = draw.one_of<backgauge_direction>({BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
  c.input_mode =
      draw.one_of<backgauge_input_mode>({BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT});
  const bool as_wide =
      c.input_mode == BACKGAUGE_SKIP_INPUT || (c.input_mode == BACKGAUGE_AUTO_SELECT && draw.once_in(2));
  if (as_wide) c.I = c.H;
  c.layers = must_be_short(c.data) ? 1 : draw.one_of<std::int64_t>({1, 1, 2, 3});
  if (c.layers > 1) c.dropout = draw.one_of<double>({0, 0, 0.25, 0.5, 1});
}

StateWeights stacked_state_weights(const Problem& problem) {
  const Extents& e = problem.extents;
  StateWeights out{"params", "params_backprop"};
  const RnnParams layout = layout_of(problem);
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    for (std::int64_t direction = 0; direction < e.D; ++direction) {
      append(out.recurrent, layout.R(layer, direction, 0), layout.gates * e.H * e.H);
      if (!e.lstm) continue;
      append(out.forget, layout.W(layer, direction, 1), e.H * layout.matrix_input(layer));
      append(out.forget, layout.bW(layer, direction, 1), e.H);
      append(out.forget, layout.bR(layer, direction, 1), e.H);
    }
  }
  return out;
}

void enter_stacked_states(const backgauge_implementation& implementation, const Problem& first, Problem& second) {
  const auto made = exactly(answer(implementation, first));
  input(second, "input_h").values = values_of(named(made, "output_h"));
  if (first.extents.lstm) input(second, "input_c").values = values_of(named(made, "output_c"));
}

void carry_stacked_back(const std::vector<Wanted>& second, Problem& first) {
  input(first, "output_h_backprop").values = values_of(named(second, "input_h_backprop"));
  if (first.extents.lstm) input(first, "output_c_backprop").values = values_of(named(second, "input_c_backprop"));
}

}  // namespace

const Entry kCudnnRnnBackprop{draw_mode,         draw_stacked_settings, stacked_by_hand,
                              stacked_slope,     stacked_state_weights, enter_stacked_states,
                              carry_stacked_back};

}  // namespace backgauge::law_ops
