// SPDX-License-Identifier: Apache-2.0
// Estimates the memory that the oracle needs for a problem, before the problem is made.
#pragma once

#include "reference/oracle.h"

namespace backgauge {

// In bytes, in addition to the problem and the results: the peak memory of the bound, which is computed for every
// problem. Right within a factor of two above 20 MB. Deviations of random values take as much again or more. The values
// of `problem` are not read.
double bound_bytes(const Problem& problem);

}  // namespace backgauge
