// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/ops/lstm.h"

namespace backgauge::plan_ops {
namespace {

void choose_structured_cell(Case& c, const StructuredTurn& turn) { choose_structured_lstm(c, turn); }

std::int64_t no_steps(const Case&) { return 0; }

// w, which is not read, has 4H (I + H) elements: the first H for which they exceed 2^29, 2^30 and 2^31.
void add_cell_limits(Shapes& shapes) {
  for (const std::int64_t H : {11585, 16384, 23170}) shapes.add(1, 1, 1, H, 1);
  shapes.add(1, 3, std::int64_t{1} << 29, 1, 1);
}

}  // namespace

const Entry kLstmBlockCellGrad{kLstmVariants,         choose_peephole, take_no_turn,
                               take_no_turn,          no_steps,        add_no_shape,
                               add_cell_limits,       draw_lstm,       1,
                               choose_structured_cell};

}  // namespace backgauge::plan_ops
