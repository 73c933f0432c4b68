// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/case_generator.h"

#include <ostream>

#include "properties/laws/draw_case.h"

namespace backgauge {

rc::Gen<Case> cases(backgauge_op op, Sizes sizes, Case (*about)(Case)) {
  return [op, sizes, about](rc::Random random, int) {
    return rc::shrinkable::shrinkRecur(about(draw_case(op, sizes, random.next())),
                                       [about](const Case& c) { return rc::seq::fromContainer(simpler(c, about)); });
  };
}

void showValue(const Case& c, std::ostream& out) { out << to_string(c); }

}  // namespace backgauge
