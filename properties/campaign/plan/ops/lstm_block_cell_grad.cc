// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/ops/lstm.h"

namespace backgauge::plan_ops {
namespace {

void choose_structured_cell(Case& c, const StructuredTurn& turn) { choose_structured_lstm(c, turn); }

}  // namespace

const Entry kLstmBlockCellGrad{kLstmVariants, choose_peephole, take_no_turn, draw_lstm, 1, choose_structured_cell};

}  // namespace backgauge::plan_ops
