// SPDX-License-Identifier: Apache-2.0
// Inputs of CudnnRNNBackprop.
#pragma once

#include "properties/case/draw/ops/entry.h"

namespace backgauge::draw_ops {

void draw_cudnn_inputs(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts);
Structures cudnn_structures();

}  // namespace backgauge::draw_ops
