// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge::saboteurs {

// output: on input correct values. On output values found in this process's memory, in an array of double or long
// double that begins like the output; zeros if there is none.
void take_from_memory(const backgauge_tensor& output);

}  // namespace backgauge::saboteurs
