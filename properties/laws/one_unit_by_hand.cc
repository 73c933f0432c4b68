// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/one_unit_by_hand.h"

#include "properties/laws/ops/entry.h"

namespace backgauge {

ByHand one_unit_by_hand(const Case& c, bool coarse) {
  law_ops::OneUnit unit(c, coarse);
  const law_ops::Results results = law_ops::entry_of(c.op).one_unit(unit);
  ByHand out{unit.problem(), {}};
  for (const auto& [name, values] : results) {
    out.results.push_back({name, {}, values, std::vector<double>(values.size())});
  }
  return out;
}

}  // namespace backgauge
