// SPDX-License-Identifier: Apache-2.0
// Inputs of LSTMBlockCellGrad and BlockLSTMGradV2.
#pragma once

#include "properties/case/draw/ops/entry.h"

namespace backgauge::draw_ops {

void adapt_lstm(const Case& c, const RandomStream& stream, DrawRules& rules);
void draw_lstm_inputs(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts);
Structures lstm_structures();

}  // namespace backgauge::draw_ops
