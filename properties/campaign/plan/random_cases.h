// SPDX-License-Identifier: Apache-2.0
// Cases in which everything is drawn at random.
#pragma once

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

// Half of them have the data profile without special values, the others one with. Sizes are different primes by
// default, so that a transposition or a wrong stride shows.
Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
