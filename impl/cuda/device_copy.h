// SPDX-License-Identifier: Apache-2.0
// For callers with tensors in host memory: the same call with device memory. It allocates, copies and waits, unlike
// calls with device memory.
#pragma once

#include <memory>
#include <vector>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/work.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

class DeviceCopy {
 public:
  // call: validated. Copies its description with the memory space of the device, without memory.
  DeviceCopy(const backgauge_call& call, backgauge_memory_space space)
      : original_(call),
        call_(call),
        inputs_(call.inputs, call.inputs + call.num_inputs),
        outputs_(call.outputs, call.outputs + call.num_outputs) {
    for (std::vector<backgauge_tensor>* const tensors : {&inputs_, &outputs_}) {
      for (backgauge_tensor& tensor : *tensors) {
        if (moves(tensor)) tensor.memory_space = space;
      }
    }
    call_.memory_space = space;
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
  }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const backgauge_call& call() const { return call_; }

  // Allocates all tensors, copies the inputs, and allocates a workspace of this size.
  void fill(std::uint64_t workspace_bytes) {
    for (backgauge_tensor& input : inputs_) {
      if (!moves(input)) continue;
      void* const to = allocate(bytes_of(input));
      write_through(to, input.data, bytes_of(input));
      input.data = to;
    }
    for (backgauge_tensor& output : outputs_) output.data = allocate(bytes_of(output));
    call_.workspace = allocate(static_cast<std::int64_t>(workspace_bytes));
    call_.workspace_bytes = workspace_bytes;
  }

  // Copies the outputs, once they have been computed, to those of the original call.
  void fetch_outputs() const {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      read_back(call_.stream, original_.outputs[k].data, outputs_[k].data, bytes_of(outputs_[k]));
    }
  }

 private:
  static std::int64_t bytes_of(const backgauge_tensor& tensor) {
    return backgauge_elements(&tensor) * static_cast<std::int64_t>(backgauge_dtype_bytes(tensor.dtype));
  }
  // seq_len_max stays in host memory.
  static bool moves(const backgauge_tensor& tensor) { return tensor.dtype != BACKGAUGE_INT64; }

  void* allocate(std::int64_t bytes) {
    if (bytes == 0) return nullptr;
    memory_.push_back(std::make_unique<Memory>(bytes));
    return memory_.back()->data();
  }

  const backgauge_call& original_;
  backgauge_call call_;
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

}  // namespace backgauge::cuda
