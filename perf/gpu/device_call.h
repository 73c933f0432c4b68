// SPDX-License-Identifier: Apache-2.0
// A call of a plug-in in device memory, with inputs that look like those of training: gates between 0 and 1, gradients
// and weights of mean 0. For the programs of this folder, which need no more than the contract and CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge::gpu {

// What a call is of. CudnnRNNBackprop: one layer, one direction, linear input, no dropout.
struct Shape {
  backgauge_op op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  std::int32_t mode = BACKGAUGE_LSTM;
  std::int64_t T = 1, B = 1, I = 1, H = 1;

  std::string text() const;  // as parse_shape reads it
  double flops() const;      // of its products
  double bytes() const;      // of its tensors, each once
};

// "block_lstm_grad_v2:25,64,512,512:f16", "cudnn_rnn_backprop:25,64,512,512:f32:gru",
// "lstm_block_cell_grad:1,64,512,512:f32". Throws std::runtime_error.
Shape parse_shape(const std::string& text);

// Opens a shared library. Throws std::runtime_error with its reason.
const backgauge_implementation& open_plugin(const std::string& path);

bool claims(const backgauge_implementation& implementation, const Shape& shape);

void check(cudaError_t error, const char* what);  // throws std::runtime_error

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

class DeviceCall {
 public:
  // The same values for every implementation; CudnnRNNBackprop gets what the implementation's own forward makes.
  // Throws std::runtime_error.
  DeviceCall(const backgauge_implementation& implementation, const Shape& shape, cudaStream_t stream);

  void run();      // enqueues it
  void restore();  // enqueues what must stand before it: reserve_space, where it is changed
  bool restores() const { return reserve_before_ != nullptr; }

  void poison_outputs();  // with NaN; enqueued
  std::vector<std::byte> output_bytes() const;
  std::vector<double> output_values() const;

 private:
  struct Tensor {
    std::string name;
    backgauge_tensor described{};
    std::unique_ptr<DeviceMemory> memory;
  };
  using Tensors = std::vector<Tensor>;

  Tensor describe(const TensorSpec& spec, const Extents& extents) const;
  void add_inputs(const OpSpec& op, Extents& extents, Tensors made);
  static std::vector<backgauge_tensor> described(const Tensors& tensors);
  backgauge_call call_of(backgauge_op op, std::span<const backgauge_tensor> inputs,
                         std::span<const backgauge_tensor> outputs) const;
  backgauge_plan ask(backgauge_call& call);
  Tensors forward(Extents& extents);

  const backgauge_implementation& implementation_;
  const Shape shape_;
  const cudaStream_t stream_;
  std::int64_t steps_;  // seq_len_max
  Tensors inputs_, outputs_;
  std::vector<backgauge_tensor> c_inputs_, c_outputs_;
  std::vector<std::unique_ptr<DeviceMemory>> workspaces_;
  std::unique_ptr<DeviceMemory> reserve_before_;
  backgauge_call call_{};
};

}  // namespace backgauge::gpu
