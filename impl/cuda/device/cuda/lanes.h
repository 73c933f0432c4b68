// SPDX-License-Identifier: Apache-2.0
// Streams and events for side queues, lent to one work at a time. They are made beforehand: a call makes none.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

struct Lanes {
  cudaEvent_t main_event = nullptr;
  cudaStream_t streams[Work::kMostSides] = {};
  cudaEvent_t events[Work::kMostSides] = {};

  // Makes them on the current device.
  Lanes();
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
};

// So that as many works as usual find lanes on this device.
void stock_lanes(int device);

// nullptr if all are lent.
std::unique_ptr<Lanes> borrow_lanes(int device);
// What is still going on in their streams comes before what the next work puts there.
void return_lanes(int device, std::unique_ptr<Lanes> lanes);

}  // namespace backgauge::cuda
