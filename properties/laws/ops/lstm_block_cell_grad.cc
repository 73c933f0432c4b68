// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/ops/lstm.h"

namespace backgauge::law_ops {
namespace {

void draw_cell_settings(CaseDraw& draw, Case& c) {
  draw_lstm_settings(draw, c);
  c.T = 1;
}

// Its weights have no gradient of their own; that of the pre-activations stands for it.
StateWeights cell_state_weights(const Problem& problem) {
  const Extents& e = problem.extents;
  StateWeights out{"w", "dicfo"};
  const auto forget = static_cast<std::int64_t>(traits_of(problem.op).gates.find('f'));
  for (std::int64_t row = 0; row < e.B; ++row) append(out.forget, (row * 4 + forget) * e.H, e.H);
  return out;
}

}  // namespace

// It has no steps, and so no stretches.
const Entry kLstmBlockCellGrad{draw_no_mode, draw_cell_settings, lstm_by_hand, cell_slope, cell_state_weights, nullptr,
                               nullptr};

}  // namespace backgauge::law_ops
