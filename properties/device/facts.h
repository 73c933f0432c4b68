// SPDX-License-Identifier: Apache-2.0
// What the device is, as its driver says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backgauge::device {

// A number is 0, and a text empty, where the driver does not say.
struct Facts {
  std::string name;        // "NVIDIA H200"
  std::string capability;  // "9.0"
  int multiprocessors = 0;
  int clock_mhz = 0;  // the highest of the multiprocessors; under load it may be lower
  int memory_clock_mhz = 0, memory_bus_bits = 0;
  std::int64_t l2_bytes = 0, memory_bytes = 0;
  std::string driver;          // "580.65.06"
  std::string cuda_of_driver;  // "13.0": the newest CUDA that it supports
  std::string cuda_runtime;    // of the library that is loaded
};

// Of the first device, which all processes of a run use; nullopt where absence() says why there is none.
std::optional<Facts> facts();

}  // namespace backgauge::device
