// SPDX-License-Identifier: Apache-2.0
#include "impl/device_absence.h"

#include <cuda_runtime_api.h>

namespace backgauge {
namespace {

// 13000 -> "13.0"
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string device_absence() {
  int driver = 0;  // stays 0 without a driver
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "no NVIDIA driver: libcuda.so.1 is not on this machine";
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old: it supports CUDA " + version_text(driver) +
           ", and this plug-in was built with CUDA " + version_text(CUDART_VERSION);
  }
  if (error == cudaSuccess && devices > 0) return "";
  const std::string why = error == cudaSuccess ? "the driver reports 0 devices" : cudaGetErrorString(error);
  return "no CUDA device: " + why;
}

}  // namespace backgauge
