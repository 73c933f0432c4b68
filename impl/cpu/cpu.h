// SPDX-License-Identifier: Apache-2.0
// The optimized implementation for host memory.
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge {

const backgauge_implementation& cpu_implementation();

}  // namespace backgauge
