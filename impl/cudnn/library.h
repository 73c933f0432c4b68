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

// What is created and destroyed by a pair of functions of cuDNN or of the CUDA runtime.
template <class Object, auto create, auto destroy>
class Owned {
 public:
  Owned() { check(create(&object_), "a function that creates"); }
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

// A stream that does not wait for the default stream.
inline cudaError_t create_stream(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}
using Stream = Owned<cudaStream_t, create_stream, cudaStreamDestroy>;

inline cudaError_t create_event(cudaEvent_t* event) { return cudaEventCreate(event); }
using Event = Owned<cudaEvent_t, create_event, cudaEventDestroy>;

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
