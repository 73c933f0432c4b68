// SPDX-License-Identifier: Apache-2.0
// Cases whose tensors have a structure; each structure is enumerated by name, not drawn.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/line/case.h"

namespace backgauge {

// Every structure of every such data profile (case/draw/structures.h), in shapes that have all parts of it: peepholes,
// two directions, several steps. `thorough`: with each dtype and mode; otherwise these take turns, and for stacked nets
// one case is an LSTM and one has another mode.
std::vector<Case> structured_cases(backgauge_op op, const Dtypes& dtypes, bool thorough, Draws& draws);

}  // namespace backgauge
