// SPDX-License-Identifier: Apache-2.0
// Outputs to which the result was added, instead of being stored there.
#pragma once

#include <vector>

#include "properties/judge/call/run.h"
#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

// On input the reports of a call whose outputs were poison before, these outputs, and those of the same call where
// outputs held the finite numbers of RunOptions. A sum with poison is poison again, as if nothing had been written. But
// if the other call gave the expected value plus the number that was there, for every element that is poison and
// large enough to tell, the report says so: its `added` counts these elements, which are neither unwritten nor
// wrongly NaN.
void mark_additions(std::vector<TensorReport>& reports, const std::vector<Output>& poisoned,
                    const std::vector<Output>& finite, const std::vector<Wanted>& wanted, const Problem& problem);

}  // namespace backgauge
