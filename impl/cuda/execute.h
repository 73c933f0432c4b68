// SPDX-License-Identifier: Apache-2.0
// From a call to its op, with the types that it is computed in: half as it is only where nothing of it is narrowed by
// that, or where BACKGAUGE_CUDA_MATH asks for it; bfloat16 always as float32.
#pragma once

#include <cstdint>

#include "impl/cuda/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

// As the ops of ops.h.
void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace);

// What execute() needs beside the workspace for nothing but speed. Allocates.
void prepare_graphs(const backgauge_call& call, const Extents& extents);

// Elements of reserve_space: 0 for ops without, -1 if too many to count.
std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents);

// body: called with a value of the storage type of a dtype.
template <class Body>
auto with_storage(std::int32_t dtype, Body body) {
  switch (dtype) {
    case BACKGAUGE_HALF: return body(Half{});
    case BACKGAUGE_BFLOAT16: return body(Bfloat16{});
    case BACKGAUGE_FLOAT32: return body(float{});
    default: return body(double{});
  }
}

}  // namespace backgauge::cuda
