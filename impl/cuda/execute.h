// SPDX-License-Identifier: Apache-2.0
// Runs the op of a call in the types of its computation: half directly only if that narrows nothing, or if
// BACKGAUGE_CUDA_MATH requests it; bfloat16 always as float32.
#pragma once

#include <cstdint>

#include "impl/cuda/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

// Like the ops of ops.h.
void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace);

// Prepares what execute() uses, in addition to the workspace, only for speed. Allocates.
void prepare_graphs(const backgauge_call& call, const Extents& extents);

// Elements of reserve_space, of ops that have one; -1 if too many to count.
std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents);

}  // namespace backgauge::cuda
