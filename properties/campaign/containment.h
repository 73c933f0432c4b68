// SPDX-License-Identifier: Apache-2.0
// One NaN or infinity in one element of one tensor that is read: every such tensor, at its first, at its last and at
// another element.
#pragma once

#include <vector>

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

// The place follows from the seed of a case (case/poison.h), so seeds are tried until one has the place that is wanted.
std::vector<Case> containment_cases(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
