// SPDX-License-Identifier: Apache-2.0
// Inputs of LSTMBlockCellGrad and BlockLSTMGradV2.
#pragma once

#include "properties/case/regime.h"

namespace backgauge {

// On input a problem whose inputs have their shapes. On output their values, rounded to the dtype, and the facts.
void draw_lstm_inputs(const Case& c, const Regime& regime, Problem& problem, DataFacts& facts);

}  // namespace backgauge
