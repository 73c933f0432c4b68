// SPDX-License-Identifier: Apache-2.0
// Inputs of CudnnRNNBackprop.
#pragma once

#include "properties/case/draw/draw_rules.h"

namespace backgauge {

// Fills the inputs of a problem, which already have their shapes, with values rounded to the dtype.
void draw_cudnn_inputs(const Case& c, const DrawRules& rules, Problem& problem);

}  // namespace backgauge
