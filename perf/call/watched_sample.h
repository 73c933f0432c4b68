// SPDX-License-Identifier: Apache-2.0
// A sample that the judge watches (Session::observe), as the process that computes it sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "perf/call/session.h"

namespace backgauge {

struct WatchedSample {
  std::uint64_t seed = 0;  // of the signs of the inputs: of the call k, seed + k
  std::uint32_t calls = 0;
  std::uint32_t chosen = 0;  // the call whose masks, and outputs on a device, are returned
  std::uint32_t shift = 0;   // of all tensors in host memory (placing.h)
};

struct ServedSample {
  std::vector<double> seconds{};  // of each call
  double cpu_seconds = 0;         // of all threads, in all calls
  Computed computed{};
};

// The functions are called in this order for each call, from 0.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  virtual void await_preparing(std::uint32_t call) = 0;
  virtual void await_calling(std::uint32_t call) = 0;
  virtual void has_returned(std::uint32_t call) = 0;
};

}  // namespace backgauge
