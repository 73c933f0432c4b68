// SPDX-License-Identifier: Apache-2.0
// An implementation that hangs costs a timeout at every call, which is days for 23,000 cases. So an op is not called
// any more after some timeouts, counted over all workers of a run.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "reference/contract/backgauge.h"

namespace backgauge {

class Patience {
 public:
  // With one worker ten timeouts of 30 s take 5 minutes per op, and are enough to see which cases hang.
  static constexpr int kMostTimeouts = 10;

  void lose(backgauge_op op) { ++lost_[index(op)]; }
  bool is_lost(backgauge_op op) const { return lost_[index(op)] >= kMostTimeouts; }
  void renew() {
    for (std::atomic<int>& lost : lost_) lost = 0;
  }

 private:
  static constexpr std::size_t kOps = 8;  // enumerators of backgauge_op are small and dense
  static std::size_t index(backgauge_op op) { return static_cast<std::size_t>(op) % kOps; }

  std::array<std::atomic<int>, kOps> lost_{};
};

}  // namespace backgauge
