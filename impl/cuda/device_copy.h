// SPDX-License-Identifier: Apache-2.0
// For callers whose tensors lie in host memory: the same call with the memory of the device. It allocates, copies and
// waits, which no call with device memory does.
#pragma once

#include <memory>
#include <vector>

#include "impl/cuda/device/work.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

class DeviceCopy {
 public:
  // call: validated. Its description with the memory space of the device, and no memory yet.
  DeviceCopy(const backgauge_call& call, backgauge_memory_space space);
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const backgauge_call& call() const { return call_; }

  // Gives every tensor memory, inputs with their values, and a workspace of so many bytes.
  void fill(std::uint64_t workspace_bytes);
  // Outputs of the call on the device, when it is done, to those of the call it was made from.
  void fetch_outputs();

 private:
  void* allocate(std::int64_t bytes);

  const backgauge_call& original_;
  backgauge_call call_;
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

}  // namespace backgauge::cuda
