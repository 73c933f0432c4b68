// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/ops/lstm.h"

#include <span>

#include "properties/campaign/plan/ops/draw.h"

namespace backgauge::plan_ops {

void choose_peephole(Case& c, std::size_t variant) { c.use_peephole = variant == 0; }

void take_no_turn(Case&, std::size_t) {}

void draw_lstm(Case& c, Draws& draws) {
  c.use_peephole = draws.once_in(2);
  c.cell_clip = draws.pick<double>({0, 0, 0.5, 1, 3});
  c.data = draw_data_profile(c, draws);
  const bool saturated = c.data == DataProfile::kSaturated;  // needs saturated units and others
  c.B = draw_size(saturated ? std::span(kBatches).subspan(2) : std::span(kBatches), draws);
  c.I = draw_size(kInputs, draws);
  c.H = draw_size(saturated ? std::span(kHidden).subspan(3) : std::span(kHidden), draws);
}

std::size_t choose_structured_lstm(Case& c, const StructuredTurn& turn) {
  const std::size_t k = turn.thorough ? turn.variant + 2 * turn.k : 0;
  c.use_peephole = k % 4 != 3;
  c.cell_clip = k % 2 == 0 ? 0 : 0.5;
  c.B = 3, c.H = 5;
  c.I = k % 2 == 0 && c.data != DataProfile::kAlike ? 4 : 5;  // x and h_prev may be alike
  return k;
}

}  // namespace backgauge::plan_ops
