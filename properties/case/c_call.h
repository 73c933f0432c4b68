// SPDX-License-Identifier: Apache-2.0
// A problem as the C contract sees it. Every call that the judge and the benchmark make is described here.
#pragma once

#include <cstdint>
#include <span>

#include "reference/contract/call.h"

namespace backgauge {

// `where`: of the tensors of the call; an int64 tensor is in host memory in any case. The name outlives the tensor. Of
// a shape with more dimensions than a tensor can have, the first ones.
backgauge_tensor c_tensor(const char* name, const Shape& shape, backgauge_dtype dtype, backgauge_memory_space where,
                          void* data);

// The call of a problem with these tensors, which outlive it; without workspace and stream.
backgauge_call c_call(const Problem& problem, std::span<const backgauge_tensor> inputs,
                      std::span<const backgauge_tensor> outputs, backgauge_memory_space where,
                      std::int32_t num_threads);

}  // namespace backgauge
