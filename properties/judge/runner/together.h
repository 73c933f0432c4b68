// SPDX-License-Identifier: Apache-2.0
// Calls of one implementation at the same time: several threads, each with calls of its own, all over again until
// enough of them have really overlapped. What each gives must be what it gives alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/judge/call/placed_call.h"

namespace backgauge {

// What one thread calls: prepare and run of a gradient; of BACKGAUGE_CUDNN_RNN_BACKPROP also forward, and dropout_mask
// where masks decide and are told. The problem is legal and claimed.
struct TogetherCall {
  Problem problem;
  RunOptions options;
  bool repeats = true;  // the same bits are claimed for the same call
};

struct Together {
  // What went wrong first, "dicfo[0,3]: 1, then 2", and in which thread; "" if nothing.
  std::string fault;
  std::uint64_t thread = 0;
  std::uint64_t calls = 0;
  std::uint64_t overlapped = 0;  // of these: another thread's call began before this one returned

  // Of calls whose bits need not repeat, outputs that were not those of the call alone: to be held against the oracle.
  // One for each function of a thread, the farthest from those of the call alone.
  struct Stray {
    std::vector<Output> outputs;
    std::vector<std::vector<std::uint8_t>> keep;  // the dropout masks that this thread was told
    std::uint64_t thread = 0;
    std::uint64_t forward = 0;  // 1: of the forward, not of the gradient
  };
  std::vector<Stray> strays;

  std::string broken;  // as in RunResult

  // A fault that only overlapping calls show needs one of them to be interrupted between a write to what is shared and
  // the read of it. Where that is a third of a call, 64 interruptions all miss it less than once in 10^11.
  static constexpr std::uint64_t kEnough = 64;
  bool enough() const { return overlapped >= kEnough; }
};

// Keeps the memory of the calls in `memories`. Ends when `enough` calls have overlapped, at the latest after ten
// seconds.
Together call_together(const backgauge_implementation& implementation, const std::vector<TogetherCall>& calls,
                       std::vector<CallMemory>& memories, std::uint64_t enough = Together::kEnough);

}  // namespace backgauge
