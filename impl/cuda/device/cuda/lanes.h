// SPDX-License-Identifier: Apache-2.0
// Streams and events for side queues, each used by one Work at a time. They are created beforehand, not during calls.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

struct Lanes {
  cudaEvent_t main_event = nullptr;
  cudaStream_t streams[Work::kMostSides] = {};
  cudaEvent_t events[Work::kMostSides] = {};

  // Creates them on the current device.
  Lanes();
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
};

// Ensures that the usual number of works find lanes on this device.
void stock_lanes(int device);

// nullptr if all are in use.
std::unique_ptr<Lanes> borrow_lanes(int device);
// Work that is still running in their streams comes before the work of the next user.
void return_lanes(int device, std::unique_ptr<Lanes> lanes);

}  // namespace backgauge::cuda
