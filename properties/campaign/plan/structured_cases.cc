// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/structured_cases.h"

#include "properties/campaign/plan/ops/entry.h"
#include "properties/case/draw/structures.h"

namespace backgauge {
namespace {

constexpr DataProfile kStructured[] = {DataProfile::kBlank, DataProfile::kAlike, DataProfile::kExact,
                                       DataProfile::kLone};

}  // namespace

std::vector<Case> structured_cases(backgauge_op op, const Dtypes& dtypes, bool thorough, Draws& draws) {
  std::vector<Case> out;
  const plan_ops::Entry& entry = plan_ops::entry_of(op);
  for (const DataProfile data : kStructured) {
    const std::size_t count = structures_of(op, data).size();
    for (std::size_t number = 0; number < count; ++number) {
      const std::size_t all = thorough ? dtypes.size() * entry.variants : entry.structured_cases;
      for (std::size_t k = 0; k < all; ++k) {
        Case c{.op = op, .dtype = dtypes[(thorough ? k : number + k) % dtypes.size()], .data = data};
        entry.choose_structured(c, {number, k, thorough, k / dtypes.size()});
        c.seed = number;
        c.seed = seed_of_same_structure(c, draws.seed());
        out.push_back(std::move(c));
      }
    }
  }
  return out;
}

}  // namespace backgauge
