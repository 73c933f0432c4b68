// SPDX-License-Identifier: Apache-2.0
// Inputs of CudnnRNNBackprop.
#pragma once

#include "properties/case/regime.h"

namespace backgauge {

// On input a problem whose inputs have their shapes. On output their values, rounded to the dtype.
void draw_cudnn_inputs(const Case& c, const Regime& regime, Problem& problem);

}  // namespace backgauge
