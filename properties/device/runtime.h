// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's runtime library that the harness needs, found when they are first asked for: nothing is
// linked. BACKGAUGE_CUDART names the library; else libcudart.so.13 and libcudart.so.12 are looked for where the system
// looks, and in /usr/local/cuda.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace backgauge::device {

// What the device or its library reports. What was running is lost, and often the process cannot use the device again.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As CUDA's header declares them: enumerations are int, streams and events pointers.
struct Runtime {
  int (*cudaGetDeviceCount)(int* count);
  const char* (*cudaGetErrorString)(int error);
  int (*cudaGetLastError)();
  int (*cudaMalloc)(void** data, std::size_t bytes);
  int (*cudaFree)(void* data);
  int (*cudaMemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind, void* stream);
  int (*cudaMemsetAsync)(void* data, int value, std::size_t bytes, void* stream);
  int (*cudaDeviceSynchronize)();
  int (*cudaStreamCreateWithFlags)(void** stream, unsigned flags);
  int (*cudaStreamDestroy)(void* stream);
  int (*cudaStreamSynchronize)(void* stream);
  int (*cudaEventCreate)(void** event);
  int (*cudaEventDestroy)(void* event);
  int (*cudaEventRecord)(void* event, void* stream);
  int (*cudaEventSynchronize)(void* event);
  int (*cudaEventElapsedTime)(float* milliseconds, void* from, void* to);
};

// Throws Error where absence() is not "".
const Runtime& runtime();

// Another function of the library, or nullptr. Throws Error where absence() is not "".
void* function(const char* name);

// Why this process has no device to offer, in one line; "" if it has one.
const std::string& absence();

// Throws Error with CUDA's words, or std::bad_alloc where it has no memory. `what`: the function that answered.
void check(int error, const char* what);

// Whether a check has thrown Error: many of CUDA's stay with the process.
bool is_lost();

}  // namespace backgauge::device
