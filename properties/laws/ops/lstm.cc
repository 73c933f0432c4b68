// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/ops/lstm.h"

namespace backgauge::law_ops {

void draw_no_mode(CaseDraw&, Case&) {}

void draw_lstm_settings(CaseDraw& draw, Case& c) {
  c.use_peephole = draw.once_in(2);
  c.cell_clip = draw.one_of<double>({0, 0, 0.5, 1});
}

}  // namespace backgauge::law_ops
