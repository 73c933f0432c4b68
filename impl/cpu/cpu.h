// SPDX-License-Identifier: Apache-2.0
// The optimized implementation for host memory.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// nullptr, and why in `error`, where BACKGAUGE_CPU names a path that this machine cannot run or that there is not.
const backgauge_implementation* cpu_implementation(std::string& error);

}  // namespace backgauge
