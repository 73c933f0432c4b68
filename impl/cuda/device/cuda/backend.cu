// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/cuda/lanes.h"
#include "impl/cuda/device/cuda/multiply.h"
#include "impl/device_absence.h"

namespace backgauge::cuda {
namespace {

// The compute capability of the oldest devices that this library contains code for: 8.0.
constexpr int kLeastMajor = 8;

std::string version_text(int version) {  // 13010 for 13.1
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

const Backend kBackend = {"cuda", "fused pointwise steps, products by cuBLASLt, steps replayed from graphs"};

std::string backend_version() {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  return "CUDA " + version_text(runtime) + ", cuBLASLt " + cublaslt_version();
}

std::string refusal() {
  const std::string absence = device_absence();
  if (!absence.empty()) return absence;
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (major >= kLeastMajor) return "";
  return "no CUDA device: that in use has compute capability " + std::to_string(major) + "." + std::to_string(minor) +
         ", and " + std::to_string(kLeastMajor) + ".0 is needed";
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "device");
  return device;
}

void prepare_device() {
  stock_lanes(current_device());
  prepare_cublaslt();
}

void read_back(void* stream, void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto queue = static_cast<cudaStream_t>(stream);
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, queue), "copy");
  check(cudaStreamSynchronize(queue), "copy");
}

void write_through(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "copy");
}

}  // namespace backgauge::cuda
