// SPDX-License-Identifier: Apache-2.0
// What the two LSTM ops have in common.
#pragma once

#include "properties/campaign/plan/ops/entry.h"

namespace backgauge::plan_ops {

inline constexpr std::size_t kLstmVariants = 2;
void choose_peephole(Case& c, std::size_t variant);
void take_no_turn(Case& c, std::size_t turn);
void draw_lstm(Case& c, Draws& draws);
// Shapes take turns: one in which all sizes differ, one in which I = H. Both with each dtype; cases with and without
// peepholes alternate over the dtypes. Returns the number of the turn.
std::size_t choose_structured_lstm(Case& c, const StructuredTurn& turn);

}  // namespace backgauge::plan_ops
