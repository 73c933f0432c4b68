// SPDX-License-Identifier: Apache-2.0
// Cases with one NaN or infinity in one element of one tensor that is read: for every such tensor, in its first, its
// last and another element.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

// The position follows from the seed of a case (case/draw/poison.h), so seeds are tried until one gives the wanted
// position.
std::vector<Case> containment_cases(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
