// SPDX-License-Identifier: Apache-2.0
// What the environment asks for. Read once; all of it is part of the version.
#pragma once

#include <string>
#include <vector>

#include "impl/cudnn/algorithms.h"

namespace backgauge::cudnn {

// One way to make a call.
struct Way {
  cudnnRNNAlgo_t algorithm = CUDNN_RNN_ALGO_STANDARD;
  bool graph = false;  // captured in a graph, which is replayed; else called

  auto operator<=>(const Way&) const = default;
};

// Whether this program is cudnn-best, and not cudnn. Defined by each program that links these settings.
extern const bool kTakesTheFastest;

struct Settings {
  // BACKGAUGE_CUDNN_ALGO and BACKGAUGE_CUDNN_GRAPH: one way, but all of them for cudnn-best, which takes the fastest.
  std::vector<Way> ways;
  // BACKGAUGE_CUDNN_MATH: of float32 products; half and bfloat16 have CUDNN_TENSOR_OP_MATH, float64 CUDNN_FMA_MATH.
  cudnnMathType_t math = CUDNN_FMA_MATH;
  std::string math_name;
  // CUBLAS_WORKSPACE_CONFIG names one size, without which results may differ from run to run.
  bool one_workspace_size = false;
  std::string workspace_config;
  std::string refusal;  // of a value that is none of those expected, or ""

  bool best() const { return ways.size() > 1; }
};
const Settings& settings();

// "9.19.0 (standard, f32 fma, cublas unset)", of the library in use: way, math type and CUBLAS_WORKSPACE_CONFIG.
const std::string& version();

}  // namespace backgauge::cudnn
