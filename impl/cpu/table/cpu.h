// SPDX-License-Identifier: Apache-2.0
// The optimized implementation for host memory.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// nullptr, with the reason in `error`, if BACKGAUGE_CPU names an unknown path or one that this machine cannot run.
const backgauge_implementation* cpu_implementation(std::string& error);

}  // namespace backgauge
