// SPDX-License-Identifier: Apache-2.0
// The op, and the memory it needs beside its tensors.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "reference/contract/op_spec.h"

namespace backgauge::cublas {

// What CUDA or cuBLAS answered.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::size_t workspace_bytes(const backgauge_call& call, const Extents& extents);

// On input a validated call in device memory. On output everything is enqueued on its stream. Throws Failure.
void block_lstm_grad_v2(const backgauge_call& call, const Extents& extents);

}  // namespace backgauge::cublas
