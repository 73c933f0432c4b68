// SPDX-License-Identifier: Apache-2.0
// Which machine this library was built for.
#pragma once

#include <cstdint>
#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

struct Backend {
  const char* name;         // of the implementation
  const char* description;  // one line
  backgauge_memory_space memory_space;
};
extern const Backend kBackend;

// Versions of what the work is done with, in one line. Only where refusal() is "".
std::string backend_version();

// What this machine lacks to run anything, or "".
std::string refusal();

// Number of the current one; plans are made for one each.
int current_device();

// Before any Work on the current one, which allocates nothing: makes what works on it take turns with.
void prepare_device();

// From device memory to that of the host, after all that is in the stream now. Returns when it is done.
void read_back(void* stream, void* to, const void* from, std::int64_t bytes);

// From host memory to that of the device. Returns when it is done.
void write_through(void* to, const void* from, std::int64_t bytes);

}  // namespace backgauge::cuda
