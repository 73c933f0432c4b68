// SPDX-License-Identifier: Apache-2.0
// The layout of the workspace in which oneDNN's LSTM stores values for the backward pass. It is not documented, so it
// is detected: the forward pass runs on distinguishable numbers, which are searched for in the workspace. A layout is
// accepted if the backward pass gives the same results with a workspace filled by it, with NaN everywhere else.
#pragma once

#include <array>
#include <cstdint>

#include "impl/onednn/layer.h"

namespace backgauge::onednn {

// An array [steps, rows, width] inside the workspace, in floats; the last dimension is dense.
struct Place {
  std::int64_t begin = 0, step = 0, row = 0;
  std::int64_t steps = 0, rows = 0, width = 0;  // steps == 0: it is not in the workspace

  void fill(float* workspace, const float* values) const;
};

// Saved tensors of a sequence, as the contract has them; those of a state have a step less, for what the last step
// leaves is an argument of its own.
struct SavedTensors {
  const float *x, *h_prev, *cs_prev;  // [T, B, I], [B, H], [B, H]
  std::array<const float*, 4> gates;  // i, f, ci, o: [T, B, H]
  const float *h, *cs;                // [T - 1, B, H]
};

struct WorkspaceLayout {
  Place x, h_prev, cs_prev, h, cs;
  std::array<Place, 4> gates;

  void fill(float* workspace, const SavedTensors& saved) const;
};

// layer: an LSTM in one direction. std::runtime_error if no layout explains what its workspace holds.
WorkspaceLayout find_workspace_layout(const Layer& layer);

}  // namespace backgauge::onednn
