// SPDX-License-Identifier: Apache-2.0
// Inputs of CudnnRNNBackprop.
#pragma once

#include "properties/case/draw/regime.h"

namespace backgauge {

// Fills the inputs of a problem, which already have their shapes, with values rounded to the dtype.
void draw_cudnn_inputs(const Case& c, const Regime& regime, Problem& problem);

}  // namespace backgauge
