// SPDX-License-Identifier: Apache-2.0
// How much memory the oracle needs for a problem, known before it is made.
#pragma once

#include "reference/oracle.h"

namespace backgauge {

// In bytes, beside the problem itself and the answer: what the bound, which is made of every problem, holds at once.
// Within a factor of two where it is more than 20 MB. Deviations of random values take as much again or more. Of
// `problem` all but its values is looked at.
double bound_bytes(const Problem& problem);

}  // namespace backgauge
