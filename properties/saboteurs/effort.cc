// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/effort.h"

namespace backgauge::saboteurs {

double multiplications(backgauge_op op, const Extents& sizes) {
  const auto weights = element_count(spec_of(op).input(Role::kWeight).shape(sizes));
  return static_cast<double>(weights.value_or(0)) * static_cast<double>(sizes.T) * static_cast<double>(sizes.B);
}

}  // namespace backgauge::saboteurs
