// SPDX-License-Identifier: Apache-2.0
// Cases of which everything is drawn.
#pragma once

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

// Half of them are of the plain data class, the others of one of the special ones; dims are different primes by
// default, so that a transposition or a wrong stride shows.
Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
