// SPDX-License-Identifier: Apache-2.0
// The op, and the memory it needs in addition to its tensors.
#pragma once

#include <cstddef>

#include "impl/call_error.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cublas {

std::size_t workspace_bytes(const backgauge_call& call, const Extents& extents);

// On input a validated call in device memory. On output everything is enqueued on its stream. Throws CallError.
void block_lstm_grad_v2(const backgauge_call& call, const Extents& extents);

}  // namespace backgauge::cublas
