// SPDX-License-Identifier: Apache-2.0
// For callers with tensors in host memory: the same call with device memory. It allocates, copies and waits, unlike
// calls with device memory.
#pragma once

#include <memory>
#include <vector>

#include "impl/cuda/device/work.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

class DeviceCopy {
 public:
  // call: validated. Copies its description with the memory space of the device, without memory.
  DeviceCopy(const backgauge_call& call, backgauge_memory_space space);
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const backgauge_call& call() const { return call_; }

  // Allocates all tensors, copies the inputs, and allocates a workspace of this size.
  void fill(std::uint64_t workspace_bytes);
  // Copies the outputs, once they have been computed, to those of the original call.
  void fetch_outputs();

 private:
  void* allocate(std::int64_t bytes);

  const backgauge_call& original_;
  backgauge_call call_;
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

}  // namespace backgauge::cuda
