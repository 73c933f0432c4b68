// SPDX-License-Identifier: Apache-2.0
// A sample that the judge watches (Session::observe), as the process that computes it sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "perf/call/session.h"

namespace backgauge {

// All that the process has to know before the first call.
struct WatchedSample {
  std::uint32_t shift = 0;  // of all tensors in host memory (placing.h)
};

// What the process has to do next. Which call is judged, and which is the last, it hears when they have returned.
struct Order {
  std::uint64_t seed = 0;        // of the inputs of the next call
  bool hands_over_last = false;  // its results of the last call: masks, and outputs on a device
  bool ends = false;             // no call follows
};

struct ServedSample {
  std::vector<double> seconds{};  // of each call
  double cpu_seconds = 0;         // of all threads, in all calls
  Computed computed{};
};

// The functions are called in this order for each call, from 0; the last order is to end.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  virtual Order await_order(std::uint32_t call) = 0;
  virtual void await_calling(std::uint32_t call) = 0;
  virtual void has_returned(std::uint32_t call) = 0;
};

}  // namespace backgauge
