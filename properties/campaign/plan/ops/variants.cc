// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "properties/campaign/plan/ops/entry.h"

namespace backgauge::plan_ops {

std::vector<Case> variants_of(const Case& base) {
  const Entry& entry = entry_of(base.op);
  std::vector<Case> out(entry.variants, base);
  for (std::size_t k = 0; k < out.size(); ++k) entry.choose_variant(out[k], k);
  std::ranges::sort(out, {}, [](const Case& c) { return std::pair(c.use_peephole, c.rnn_mode); });
  return out;
}

}  // namespace backgauge::plan_ops
