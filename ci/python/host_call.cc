// SPDX-License-Identifier: Apache-2.0
#include "ci/python/host_call.h"

#include <cstdint>
#include <span>

#include "ci/python/on_device.h"

namespace backgauge::python {
namespace {

std::size_t bytes_of(const backgauge_tensor& tensor) {
  const std::int64_t elements = backgauge_elements(&tensor);
  return elements <= 0 ? 0 : static_cast<std::size_t>(elements) * backgauge_dtype_bytes(tensor.dtype);
}

}  // namespace

HostCall::HostCall(const backgauge_call& call, Contents contents) : given_(call), call_(call) {
  if (call.memory_space != BACKGAUGE_CUDA) return;
  inputs_.assign(call.inputs, call.inputs + call.num_inputs);
  outputs_.assign(call.outputs, call.outputs + call.num_outputs);
  for (std::vector<backgauge_tensor>* tensors : {&inputs_, &outputs_}) describe(*tensors, contents);
  if (contents == Contents::kCopied) synchronize(call.stream);
  call_.inputs = inputs_.data();
  call_.outputs = outputs_.data();
  call_.memory_space = BACKGAUGE_HOST;
  call_.stream = nullptr;
}

// Outputs are copied too: what is not written stays poison.
void HostCall::describe(std::vector<backgauge_tensor>& tensors, Contents contents) {
  for (backgauge_tensor& tensor : tensors) {
    if (tensor.memory_space != BACKGAUGE_CUDA) continue;
    tensor.memory_space = BACKGAUGE_HOST;
    const std::size_t bytes = bytes_of(tensor);
    if (contents == Contents::kDescribed || bytes == 0) continue;
    std::vector<std::max_align_t>& memory = memory_.emplace_back((bytes - 1) / sizeof(std::max_align_t) + 1);
    copy(memory.data(), tensor.data, bytes, Direction::kToHost, given_.stream);
    tensor.data = memory.data();
  }
}

void HostCall::give_outputs() const {
  if (given_.memory_space != BACKGAUGE_CUDA) return;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    copy(given_.outputs[k].data, outputs_[k].data, bytes_of(outputs_[k]), Direction::kToDevice, given_.stream);
  }
  synchronize(given_.stream);
}

}  // namespace backgauge::python
