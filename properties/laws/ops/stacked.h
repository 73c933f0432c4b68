// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop in the laws.
#pragma once

#include "properties/laws/ops/entry.h"

namespace backgauge::law_ops {

Results stacked_by_hand(OneUnit& unit);
std::unique_ptr<ForwardSlope> stacked_slope(const Case& c, Problem problem);

}  // namespace backgauge::law_ops
