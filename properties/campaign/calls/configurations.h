// SPDX-License-Identifier: Apache-2.0
// Configurations of calls, for checks of what an implementation keeps or shares between calls: cases that differ in op,
// dtype, size and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "properties/campaign/settings/covering.h"
#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

class Configurations {
 public:
  // `name`: of the random stream.
  Configurations(std::vector<backgauge_op> ops, std::uint64_t seed, std::string_view name);

  // A random case of any op of the list, or of the given one. It has outputs, and no input is a NaN or an infinity, so
  // that bits can be compared.
  Case draw();
  Case draw(backgauge_op op);

  // The same call with one property changed, a different one for each k. This detects plans that are cached by some of
  // the sizes, or by sizes without attributes, and imitates the last, smaller batch of an epoch.
  Case sibling_of(Case c, std::size_t k);

  // The same call with other values, which detects caches keyed by shape or by address.
  Case with_other_values(Case c);

 private:
  Case drawn(std::size_t op);

  std::vector<backgauge_op> ops_;
  std::vector<std::vector<Row>> rows_;  // of each op
  Draws draws_;
};

}  // namespace backgauge
