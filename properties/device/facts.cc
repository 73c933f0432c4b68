// SPDX-License-Identifier: Apache-2.0
#include "properties/device/facts.h"

#include <fstream>
#include <vector>

#include "properties/device/runtime.h"

namespace backgauge::device {
namespace {

constexpr int kFirstDevice = 0;

// cudaDeviceAttr
constexpr int kClockRate = 13, kMultiprocessors = 16, kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2Bytes = 38,
              kCapabilityMajor = 75, kCapabilityMinor = 76;

template <class Function>
Function found(const char* name) {
  return reinterpret_cast<Function>(function(name));
}

int attribute(int which) {
  const auto get = found<int (*)(int*, int, int)>("cudaDeviceGetAttribute");
  int value = 0;
  return get != nullptr && get(&value, which, kFirstDevice) == 0 ? value : 0;
}

// The properties begin with the name in 256 bytes in every version of CUDA; their size, about 1 KiB, differs.
std::string name_of_device() {
  const auto get = found<int (*)(void*, int)>("cudaGetDeviceProperties");
  std::vector<char> properties(16384);
  if (get == nullptr || get(properties.data(), kFirstDevice) != 0) return "";
  properties[255] = 0;
  return properties.data();
}

// 13000 is "13.0".
std::string cuda_version(const char* name) {
  const auto get = found<int (*)(int*)>(name);
  int version = 0;
  if (get == nullptr || get(&version) != 0 || version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::int64_t memory_bytes() {
  const auto get = found<int (*)(std::size_t*, std::size_t*)>("cudaMemGetInfo");
  std::size_t available = 0, all = 0;
  return get != nullptr && get(&available, &all) == 0 ? static_cast<std::int64_t>(all) : 0;
}

std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

}  // namespace

std::optional<Facts> facts() {
  if (!absence().empty()) return std::nullopt;
  Facts out;
  out.name = name_of_device();
  const int major = attribute(kCapabilityMajor);
  if (major > 0) out.capability = std::to_string(major) + "." + std::to_string(attribute(kCapabilityMinor));
  constexpr int kKilohertz = 1000;
  out.multiprocessors = attribute(kMultiprocessors);
  out.clock_mhz = attribute(kClockRate) / kKilohertz;
  out.memory_clock_mhz = attribute(kMemoryClockRate) / kKilohertz;
  out.memory_bus_bits = attribute(kMemoryBusWidth);
  out.l2_bytes = attribute(kL2Bytes);
  out.memory_bytes = memory_bytes();
  out.driver = driver_version();
  out.cuda_of_driver = cuda_version("cudaDriverGetVersion");
  out.cuda_runtime = cuda_version("cudaRuntimeGetVersion");
  runtime().cudaGetLastError();  // of what the library does not know
  return out;
}

}  // namespace backgauge::device
