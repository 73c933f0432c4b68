// SPDX-License-Identifier: Apache-2.0
// The optimized implementation for host memory.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// nullptr, with the reason in `error`, if BACKGAUGE_CPU names an unknown path or one that this machine cannot run.
const backgauge_implementation* cpu_implementation(std::string& error);

// The same, where both directions of a layer read the one below through one mask: the training forward of gradients
// that do not claim masks_per_direction.
const backgauge_implementation* cpu_with_shared_masks(std::string& error);

}  // namespace backgauge
