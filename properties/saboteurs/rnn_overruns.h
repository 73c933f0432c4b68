// SPDX-License-Identifier: Apache-2.0
// Faults of CudnnRNNBackprop that access memory outside of the tensors.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {

// H10: at the last step, rows of the batch are read in groups of 4, the last group in full.
inline void read_past_the_batch(const backgauge_tensor& steps, std::int64_t batch) {
  const std::int64_t count = backgauge_elements(&steps), rows_missing = (4 - batch % 4) % 4;
  if (count == 0) return;
  const std::int64_t row = count / (steps.shape[0] * batch);
  const auto* bytes = static_cast<const volatile unsigned char*>(steps.data);
  const auto end = static_cast<std::size_t>(count + rows_missing * row) * backgauge_dtype_bytes(steps.dtype);
  [[maybe_unused]] const unsigned char last = bytes[end - 1];
}

// H9: the last biases are stored in whole vectors of 4.
inline void write_past_the_biases(const backgauge_tensor& params, std::int64_t H) {
  const std::size_t element = backgauge_dtype_bytes(params.dtype), over = static_cast<std::size_t>((4 - H % 4) % 4);
  auto* end =
      static_cast<unsigned char*>(params.data) + static_cast<std::size_t>(backgauge_elements(&params)) * element;
  std::memset(end, 0, over * element);
}

// H19: the gradients of the input of a layer from all directions, as floats, in a workspace for one direction.
inline std::uint64_t workspace_of_one_direction(const Extents& extents) {
  const std::int64_t width = std::max(extents.I, extents.D * extents.H);
  return static_cast<std::uint64_t>(extents.T * extents.B * width) * sizeof(float);
}

template <class Real>
void use_workspace(const backgauge_call& call, const std::vector<std::vector<Real>>& directions) {
  auto* to = static_cast<unsigned char*>(call.workspace);
  for (const std::vector<Real>& one : directions) {
    for (const Real value : one) {
      const float narrow = static_cast<float>(value);
      std::memcpy(to, &narrow, sizeof narrow);
      to += sizeof narrow;
    }
  }
}

}  // namespace backgauge::saboteurs
