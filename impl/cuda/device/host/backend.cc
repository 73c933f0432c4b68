// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/backend.h"

#include <cstring>

namespace backgauge::cuda {

const Backend kBackend = {"cuda-on-host", "the implementation for NVIDIA GPUs, its kernels run by the processor"};

std::string backend_version() { return "blocks and threads one by one"; }

std::string refusal() { return ""; }

int current_device() { return 0; }

void prepare_device() {}

void read_back(void*, void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void write_through(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace backgauge::cuda
