// SPDX-License-Identifier: Apache-2.0
// What two environment variables ask for. Read once.
//
// BACKGAUGE_CUDA_MATH: comma-separated words, each of which narrows operands of products. Without words, nothing is
// narrowed.
//   tf32     float operands are rounded to 11 significant bits
//   3xtf32   float operands are split into two parts of 11 significant bits: three products (operand.h)
//   fp16     half calls keep the operands of their products in half; otherwise they are computed in float
//
// BACKGAUGE_CUDA_STEPS: how the serial part of BlockLSTMGradV2 and CudnnRNNBackprop is computed.
//   each       a kernel and a product for each step; so it is without the variable
//   cluster-N  one kernel, in clusters of N = 1, 2, 4, 8 or 16 blocks, where the recurrent weights fit into them:
//   clusters/plan.h
#pragma once

#include <string>

namespace backgauge::cuda {

enum class FloatProducts { kAsTheyAre, kTf32, kThreeTf32 };

struct Settings {
  FloatProducts floats = FloatProducts::kAsTheyAre;
  bool half_operands = false;
  int cluster_blocks = 0;  // of a cluster, or 0
  std::string refusal{};   // what is wrong with the value of a variable, or ""

  // Whether products read at most 11 significant bits of a float.
  bool takes_tf32() const { return floats != FloatProducts::kAsTheyAre; }
};

const Settings& settings();

// ", ..." for the version of the implementation; "" if nothing is asked for.
std::string settings_text();

}  // namespace backgauge::cuda
