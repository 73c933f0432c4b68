// SPDX-License-Identifier: Apache-2.0
// Sizes drawn together: all aligned, all one off a tile, or each in its own way, and those of training.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/line/case.h"
#include "properties/case/line/case_attributes.h"

namespace backgauge {

// Nets of many steps need weights with which no state grows: case/README.md.
inline constexpr std::int64_t kManySteps = 13;

// The attributes with which sizes are combined: those by which implementations choose kernels, and that every size may
// have.
std::vector<CaseAttribute> joined_attributes(backgauge_op op);

// A case for which the oracle takes at most half a second, without a seed.
Case draw_mixed_sizes(backgauge_op op, const Dtypes& dtypes, Draws& draws);

// Enough of them for the combinations of three conditions that occur at all; always the same.
std::vector<Case> usual_mixture(backgauge_op op, const Dtypes& dtypes);

}  // namespace backgauge
