// SPDX-License-Identifier: Apache-2.0
// cuDNN and the CUDA runtime themselves: errors as exceptions, and what is made is destroyed.
#pragma once

#include <cuda_runtime_api.h>

// Its own header is not clean under the warnings of the project.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cudnn.h>
#pragma GCC diagnostic pop

#include <cstddef>

#include "impl/call_error.h"

namespace backgauge::cudnn {

// Throw CallError where the result is not success: UNSUPPORTED for what cuDNN does not take, INTERNAL for what it calls
// a bad parameter. `what`: the function that was called.
void check(cudnnStatus_t result, const char* what);
void check(cudaError_t result, const char* what);

// What cuDNN creates and destroys by a pair of functions.
template <class Object, cudnnStatus_t (*create)(Object*), cudnnStatus_t (*destroy)(Object)>
class Owned {
 public:
  Owned() { check(create(&object_), "a cudnnCreate function"); }
  ~Owned() { destroy(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Object() const { return object_; }

 private:
  Object object_ = nullptr;
};

using Handle = Owned<cudnnHandle_t, cudnnCreate, cudnnDestroy>;
using RnnDescriptor = Owned<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor>;
using RnnDataDescriptor = Owned<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor>;
using TensorDescriptor = Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using DropoutDescriptor = Owned<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor>;

// Memory of the current device.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace backgauge::cudnn
