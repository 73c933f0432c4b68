// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/c_call.h"

#include <algorithm>

namespace backgauge {

backgauge_tensor c_tensor(const char* name, const Shape& shape, backgauge_dtype dtype, backgauge_memory_space where,
                          void* data) {
  backgauge_tensor tensor{};
  tensor.name = name;
  const std::size_t rank = std::min<std::size_t>(shape.size(), BACKGAUGE_MAX_RANK);
  std::copy_n(shape.begin(), rank, tensor.shape);
  tensor.rank = static_cast<std::int32_t>(rank);
  tensor.dtype = dtype;
  tensor.memory_space = dtype == BACKGAUGE_INT64 ? BACKGAUGE_HOST : where;
  tensor.data = data;
  return tensor;
}

backgauge_call c_call(const Problem& problem, std::span<const backgauge_tensor> inputs,
                      std::span<const backgauge_tensor> outputs, backgauge_memory_space where,
                      std::int32_t num_threads) {
  backgauge_call call{};
  call.struct_size = sizeof call;
  call.op = problem.op;
  call.dtype = problem.dtype;
  call.memory_space = where;
  call.attributes = problem.attributes;
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.num_inputs = static_cast<std::int32_t>(inputs.size());
  call.num_outputs = static_cast<std::int32_t>(outputs.size());
  call.num_threads = num_threads;
  return call;
}

}  // namespace backgauge
