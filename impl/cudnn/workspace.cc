// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/workspace.h"

namespace backgauge::cudnn {
namespace {

std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % Workspace::kAlignment == 0; }

}  // namespace

void* Staging::changed_input(const char* name) {
  const backgauge_tensor* tensor = backgauge_find(call_.inputs, call_.num_inputs, name);
  if (tensor == nullptr) return nullptr;
  if (!memory_.counts_only() && is_aligned(tensor->data)) return tensor->data;
  void* copy = memory_.take_bytes(bytes_of(*tensor));
  if (!memory_.counts_only() && bytes_of(*tensor) > 0) {
    check(cudaMemcpyAsync(copy, tensor->data, bytes_of(*tensor), cudaMemcpyDeviceToDevice, stream()),
          "cudaMemcpyAsync");
  }
  return copy;
}

void* Staging::output(const char* name) {
  const backgauge_tensor* tensor = backgauge_find(call_.outputs, call_.num_outputs, name);
  if (tensor == nullptr) return nullptr;
  if (!memory_.counts_only() && is_aligned(tensor->data)) return tensor->data;
  void* copy = memory_.take_bytes(bytes_of(*tensor));
  if (!memory_.counts_only() && bytes_of(*tensor) > 0) back_.push_back({tensor->data, copy, bytes_of(*tensor)});
  return copy;
}

void Staging::finish() {
  for (const Copy& copy : back_) {
    check(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
  }
}

}  // namespace backgauge::cudnn
