// SPDX-License-Identifier: Apache-2.0
// Inputs of LSTMBlockCellGrad and BlockLSTMGradV2.
#pragma once

#include "properties/case/draw/draw_rules.h"
#include "properties/case/line/filled.h"

namespace backgauge {

// Fills the inputs of a problem, which already have their shapes, with values rounded to the dtype, and sets `facts`.
void draw_lstm_inputs(const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts);

}  // namespace backgauge
