// SPDX-License-Identifier: Apache-2.0
// The memory of a call, and its tensors as cuDNN wants them: where one is aligned to its elements alone, a copy in the
// workspace takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "impl/cudnn/library.h"
#include "impl/workspace.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cudnn {

// Aligned to what cudaMalloc gives; cuDNN promises to work with no less.
using Workspace = backgauge::Workspace<256>;

// Copies are enqueued on the call's stream. A tensor that the call does not have is nullptr. Where the workspace only
// counts, every tensor is counted as if it had to be copied: prepare sees no addresses. Of reserve_space prepare does
// not see the length either, so that cuDNN's size of it is counted and copied.
class Staging {
 public:
  // reserve_bytes: those of reserve_space that cuDNN uses.
  Staging(const backgauge_call& call, std::size_t reserve_bytes, Workspace& memory)
      : call_(call), reserve_bytes_(reserve_bytes), memory_(memory) {}

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream); }

  const void* input(const char* name) { return changed_input(name); }
  // One that cuDNN writes; in the copy, where there is one.
  void* changed_input(const char* name) {
    return place(backgauge_find(call_.inputs, call_.num_inputs, name),
                 [this](const backgauge_tensor& tensor, void* to) { copy(to, tensor.data, bytes_of(tensor)); });
  }
  // In finish() it has its values.
  void* output(const char* name) {
    return place(backgauge_find(call_.outputs, call_.num_outputs, name),
                 [this](const backgauge_tensor& tensor, void* from) {
                   back_.push_back({&tensor, from});
                 });
  }
  void finish() const {
    for (const auto& [tensor, from] : back_) copy(tensor->data, from, bytes_of(*tensor));
  }

 private:
  std::size_t bytes_of(const backgauge_tensor& tensor) const {
    if (std::strcmp(tensor.name, "reserve_space") == 0) return reserve_bytes_;
    return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
  }
  static bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % Workspace::kAlignment == 0;
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
  }

  // Where cuDNN finds the tensor: use(tensor, copy) is called if that is a copy.
  template <class Use>
  void* place(const backgauge_tensor* tensor, const Use& use) {
    if (tensor == nullptr) return nullptr;
    if (!memory_.counts_only() && is_aligned(tensor->data)) return tensor->data;
    void* memory = memory_.take_bytes(bytes_of(*tensor));
    if (!memory_.counts_only() && bytes_of(*tensor) > 0) use(*tensor, memory);
    return memory;
  }

  struct Copied {
    const backgauge_tensor* tensor;
    const void* from;
  };

  const backgauge_call& call_;
  std::size_t reserve_bytes_;
  Workspace& memory_;
  std::vector<Copied> back_;
};

}  // namespace backgauge::cudnn
