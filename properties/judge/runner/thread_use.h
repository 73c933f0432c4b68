// SPDX-License-Identifier: Apache-2.0
// How many threads a call keeps busy, to be held against the num_threads that it was given.
#pragma once

#include <span>
#include <string>

#include "properties/judge/call/placed_call.h"

namespace backgauge {

struct ThreadUse {
  // Threads that were running or ready to run at once, the caller's included, on average over the time in calls. Not
  // counted: threads that were there before and did less than a quarter of the busiest one's work, as those of a pool
  // that are woken to find that there is nothing for them.
  double busy = 0;
  int samples = 0;
  std::string unmeasured;  // why not; "" if measured
  std::string fault;       // of a call; "" if all went well
  std::string broken;      // as in RunResult

  // At most num_threads at once are that many on average too, whichever threads they are at a time; a half more is
  // none of them.
  bool too_many(std::int32_t num_threads) const { return unmeasured.empty() && busy > num_threads + 0.5; }
};

// Calls again and again for some tens of milliseconds, after one call that may start threads. No other call of this
// process runs. The problem is a legal, claimed one of a gradient without random dropout; `raw` as run() takes it.
ThreadUse measure_thread_use(const backgauge_implementation& implementation, const Problem& problem,
                             std::span<const RawTensor> raw, const RunOptions& options);

}  // namespace backgauge
