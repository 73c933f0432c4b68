// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/random_cases.h"

#include "properties/campaign/plan/ops/entry.h"
#include "properties/campaign/settings/settings.h"

namespace backgauge {

Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  Case c{.op = op, .dtype = dtype};
  plan_ops::entry_of(op).draw(c, draws);
  c.seed = draws.seed();
  return c;
}

void mix_sizes(Case& c, Draws& draws) {
  const std::int64_t kind = draws.below(8), other = draws.pick<std::int64_t>({-1, 1});
  if (kind > 2 || c.B == 0 || c.I == 0 || needs_short_nets(c.data)) return;
  const auto rounded = [&](std::int64_t size) { return (size + 7) / 8 * 8 + (kind == 2 ? other : 0); };
  c.B = rounded(c.B);
  c.I = rounded(c.I);
  c.H = rounded(c.H);
}

}  // namespace backgauge
