// SPDX-License-Identifier: Apache-2.0
// BACKGAUGE_CUDA_STEPS: how the serial part of BlockLSTMGradV2 and CudnnRNNBackprop is computed.
//   each       a kernel and a product for each step
//   cluster-N  one kernel, in clusters of N = 1, 2, 4, 8 or 16 blocks, where the recurrent weights fit into them:
//   plan.h
// Without the variable: each. Read once.
#pragma once

#include <string>

namespace backgauge::cuda {

// Blocks of a cluster, or 0.
int cluster_blocks();

// ", ..." for the version of the implementation; "" for each.
std::string steps_text();

// What is wrong with the value of the variable, or "".
const std::string& steps_refusal();

}  // namespace backgauge::cuda
