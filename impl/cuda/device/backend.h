// SPDX-License-Identifier: Apache-2.0
// The machine that this library was built for.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge::cuda {

struct Backend {
  const char* name;         // of the implementation
  const char* description;  // one line
};
extern const Backend kBackend;

// The versions of the libraries and of the device, in one line. Only if refusal() is "".
std::string backend_version();

// What is missing on this machine, or "".
std::string refusal();

// The number of the current device; plans are made per device.
int current_device();

// To be called before any Work on the current device: creates the objects that works share, since works allocate
// nothing.
void prepare_device();

// Copies from device memory to the host, after all current work of the stream. Returns when the copy is complete.
void read_back(void* stream, void* to, const void* from, std::int64_t bytes);

// Copies from host memory to the device. Returns when the copy is complete.
void write_through(void* to, const void* from, std::int64_t bytes);

}  // namespace backgauge::cuda
