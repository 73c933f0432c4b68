// SPDX-License-Identifier: Apache-2.0
// Concurrent calls of one implementation: several threads, each with its own calls, which are repeated until enough of
// each thread's have overlapped. The results of each call must be those of the call alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/judge/call/placed_call.h"

namespace backgauge {

// The calls of one thread: prepare and run of a gradient; if the op takes the outputs of a forward also that, and
// dropout_mask if dropout is random and masks are available. The problem is legal and claimed.
struct TogetherCall {
  Problem problem;
  RunOptions options{};
  bool repeats = true;  // the same bits are claimed for the same call
};

struct Together {
  // The first fault, "dicfo[0,3]: 1, then 2", and its thread; "" if there is none.
  std::string fault;
  std::uint64_t thread = 0;
  std::uint64_t calls = 0;
  std::uint64_t overlapped = 0;  // of these: another thread's call began before this one returned
  std::uint64_t fewest = 0;      // overlapped calls of the thread with the fewest

  // Keeps the first fault, if it is one.
  void note(std::uint64_t of_thread, const std::string& what) {
    if (!fault.empty() || what.empty()) return;
    fault = what;
    thread = of_thread;
  }

  // For calls whose bits need not repeat: outputs that differ from those of the call alone, to be compared with the
  // oracle. For each function of a thread, those that differ most.
  struct Stray {
    std::vector<Output> outputs;
    std::vector<std::vector<std::uint8_t>> keep;  // the dropout masks that were reported to this thread
    std::uint64_t thread = 0;
    std::uint64_t forward = 0;  // 1 if the outputs are those of the forward, 0 if of the gradient
  };
  std::vector<Stray> strays;

  std::string broken;  // as in RunResult

  std::uint64_t enough = 0;  // overlapped calls that each thread should have
  bool is_enough() const { return fewest >= enough; }
};

// When concurrent calls end.
struct TogetherEnd {
  // A fault shows only if a call is interrupted between a write to shared memory and the read of it. If that is a third
  // of the time of a call, 32 interruptions all miss it with a probability below 10^-5. Each thread needs as many:
  // otherwise short calls of one thread, which begin during every long call of another, would be enough for all.
  std::uint64_t overlaps = 32;  // of each thread
  // Where threads run on processors of their own, thousands of calls overlap in that time, which finds far narrower
  // windows.
  std::chrono::milliseconds time{100};
};

// Stores the memory of the calls in `memories`. Ends when both are reached, or after ten seconds.
Together call_together(const backgauge_implementation& implementation, const std::vector<TogetherCall>& calls,
                       std::vector<CallMemory>& memories, const TogetherEnd& end = {});

}  // namespace backgauge
