// SPDX-License-Identifier: Apache-2.0
// Prefetching of memory that will be read.
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>

#include "impl/cpu/blocks.h"

namespace backgauge::cpu {

// Rows of memory that will be read soon, prefetched a few at a time: many prefetches at once wait for each other, and
// delay the loads behind them.
class ReadSoon {
 public:
  ReadSoon() = default;
  // bytes: the largest size of a row.
  ReadSoon(std::int64_t rows, std::int64_t bytes) : rows_(rows), left_(rows), lines_(blocks(bytes, kLine)) {}

  // Adds rows that are `stride` elements apart.
  template <class S>
  void add(const S* from, std::int64_t stride) {
    runs_[count_++] = {reinterpret_cast<const char*>(from), stride * static_cast<std::int64_t>(sizeof(S))};
  }

  // Sets how much each call prefetches, so that `times` calls suffice.
  void spread(std::int64_t times) { each_ = blocks(count_ * rows_, times); }

  void ask() {
    for (std::int64_t n = each_; n > 0 && done_ != count_; --n) {
      Run& run = runs_[done_];
      for (std::int64_t line = 0; line < lines_; ++line) hwy::Prefetch(run.from + line * kLine);
      run.from += run.stride;
      if (--left_ == 0) {
        left_ = rows_;
        ++done_;
      }
    }
  }

 private:
  static constexpr std::int64_t kLine = 64;
  static constexpr int kMost = 13;  // an LSTM with peepholes: 9 tensors in, 4 gates out
  struct Run {
    const char* from;
    std::int64_t stride;
  };

  Run runs_[kMost];
  std::int64_t count_ = 0, done_ = 0;
  std::int64_t rows_ = 0, left_ = 0, lines_ = 0, each_ = 0;
};

}  // namespace backgauge::cpu
