// SPDX-License-Identifier: Apache-2.0
// Measures whether the resident memory of a process grows with each call.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "properties/judge/call/placed_call.h"

namespace backgauge {

struct MemoryGrowth {
  std::int64_t calls = 0;   // after those that warm up
  std::int64_t bytes = 0;   // by which resident memory grew over these
  bool throughout = false;  // it grew in each of four equal parts of them
  std::string unmeasured;   // why nothing was measured; "" if it was
  std::string fault;        // what is wrong with a call; "" if nothing
  std::string broken;       // as in RunResult

  // An allocator that is asked for the same sizes again and again takes no more pages from the system. Pages that are
  // touched late, of libraries and stacks, come once and not in each part; 16 pages a part are more than come by
  // chance.
  static constexpr std::int64_t kMostBytes = 4 * 16 * 4096;
  bool too_much() const { return throughout && bytes > kMostBytes; }
};

// Repeats prepare and one function of the implementation: forward for a forward op, else run. A fifth of the calls
// warm up. No other call may run in this process. The problem is legal and claimed, and draws no dropout masks; `raw`
// as for run().
MemoryGrowth measure_memory_growth(const backgauge_implementation& implementation, const Problem& problem,
                                   std::span<const RawTensor> raw, const RunOptions& options);

}  // namespace backgauge
