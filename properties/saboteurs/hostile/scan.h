// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge::saboteurs {

// On input an output with right values. On output values that were found in this process's memory, as an array of
// double or long double that begins like the output; zeros if there is none.
void take_from_memory(const backgauge_tensor& output);

}  // namespace backgauge::saboteurs
