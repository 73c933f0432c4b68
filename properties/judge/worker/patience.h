// SPDX-License-Identifier: Apache-2.0
// An implementation that hangs costs a timeout at every call: with 23,000 cases days. So an op is given up on after
// some of them, in all workers of a run together.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "reference/contract/backgauge.h"

namespace backgauge {

class Patience {
 public:
  // At 30 s each and with one worker ten are 5 minutes of an op, and enough to see which cases hang.
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
