// SPDX-License-Identifier: Apache-2.0
// Whether a saved co belongs to the saved cs, so that an implementation may recompute it.
#pragma once

#include "reference/contract/call.h"

namespace backgauge {

// True if every co that the gradient reads is tanh of its cs, up to the rounding of both to the dtype of the problem.
// Also true for an op that saves no co. On input both tensors have all their elements.
bool saved_co_is_tanh_of_cs(const Problem& problem);

}  // namespace backgauge
