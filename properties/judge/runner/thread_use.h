// SPDX-License-Identifier: Apache-2.0
// Measures how many threads a call keeps busy, to be compared with the num_threads that it was given.
#pragma once

#include <span>
#include <string>

#include "properties/judge/call/placed_call.h"

namespace backgauge {

struct ThreadUse {
  // How many threads were running or ready to run at the same time, including the caller's: the average over the time
  // in calls. Threads that existed before and did less than a quarter of the work of the busiest one are not counted,
  // for example those of a pool that wake up and find no work.
  double busy = 0;
  int samples = 0;
  std::string unmeasured;  // why nothing was measured; "" if it was
  std::string fault;       // what is wrong with a call; "" if nothing
  std::string broken;      // as in RunResult

  // If at most num_threads run at any time, the average is not above that either. A half more allows for sampling.
  bool too_many(std::int32_t num_threads) const { return unmeasured.empty() && busy > num_threads + 0.5; }
};

// Repeats a call for some tens of milliseconds, after a first call that may start threads. No other call may run in
// this process. The problem is legal and claimed, and is a gradient without random dropout; `raw` as for run().
ThreadUse measure_thread_use(const backgauge_implementation& implementation, const Problem& problem,
                             std::span<const RawTensor> raw, const RunOptions& options);

}  // namespace backgauge
