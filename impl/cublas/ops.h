// SPDX-License-Identifier: Apache-2.0
// The op.
#pragma once

#include "impl/call_error.h"
#include "impl/workspace.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cublas {

// Aligned to what cudaMalloc gives.
using Workspace = backgauge::Workspace<256>;

// On input a validated call in device memory. On output everything is enqueued on its stream. If the memory only
// counts, only the memory is taken, and the call has no addresses. Throws CallError.
void block_lstm_grad_v2(const backgauge_call& call, const Extents& extents, Workspace& memory);

}  // namespace backgauge::cublas
