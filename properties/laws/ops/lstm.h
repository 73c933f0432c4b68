// SPDX-License-Identifier: Apache-2.0
// What the two LSTM ops have in common in the laws.
#pragma once

#include "properties/laws/ops/entry.h"

namespace backgauge::law_ops {

void draw_no_mode(CaseDraw& draw, Case& c);
void draw_lstm_settings(CaseDraw& draw, Case& c);
Results lstm_by_hand(OneUnit& unit);

// For the cell, whose forward takes pre-activations of the gates in place of x, h_prev, w and b.
std::unique_ptr<ForwardSlope> cell_slope(const Case& c, Problem problem);
// For the block. b, which the gradient does not read, gets finite values.
std::unique_ptr<ForwardSlope> block_slope(const Case& c, Problem problem);

}  // namespace backgauge::law_ops
