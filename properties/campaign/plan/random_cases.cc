// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/random_cases.h"

#include "properties/campaign/plan/ops/entry.h"

namespace backgauge {

Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  Case c{.op = op, .dtype = dtype};
  plan_ops::entry_of(op).draw(c, draws);
  c.seed = draws.seed();
  return c;
}

}  // namespace backgauge
