// SPDX-License-Identifier: Apache-2.0
// The C structs of a problem. Every call that the judge and the benchmark make is built here.
#pragma once

#include <cstdint>
#include <span>

#include "reference/contract/call.h"

namespace backgauge {

// `where`: the memory space of the call; int64 tensors are always in host memory. `name` must outlive the tensor. If
// the shape has more dimensions than a tensor can have, only the first ones are used.
backgauge_tensor c_tensor(const char* name, const Shape& shape, backgauge_dtype dtype, backgauge_memory_space where,
                          void* data);

// The call of a problem with these tensors, which must outlive it; without workspace and stream.
backgauge_call c_call(const Problem& problem, std::span<const backgauge_tensor> inputs,
                      std::span<const backgauge_tensor> outputs, backgauge_memory_space where,
                      std::int32_t num_threads);

}  // namespace backgauge
