// SPDX-License-Identifier: Apache-2.0
// The memory of a call.
#pragma once

#include "impl/workspace.h"

namespace backgauge::cpu {

// Aligned to a cache line, which is also the widest vector.
using Workspace = backgauge::Workspace<64>;

}  // namespace backgauge::cpu
