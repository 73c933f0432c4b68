// SPDX-License-Identifier: Apache-2.0
// Cases in which everything is drawn at random.
#pragma once

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

// Half of them have the data profile without special values, the others one with. Sizes are different primes by
// default, so that a transposition or a wrong stride shows.
Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws);

// Rounds B, I and H up to multiples of 8 in one case of four, and to one off a multiple in one of eight, so that
// aligned sizes occur with every data profile whose bound allows for wider sums.
void mix_sizes(Case& c, Draws& draws);

}  // namespace backgauge
