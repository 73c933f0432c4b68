// SPDX-License-Identifier: Apache-2.0
// Prefetches memory that will be read.
#pragma once

#include <algorithm>
#include <cstdint>

#include "impl/cpu/kernels/blocks.h"

namespace backgauge::cpu {

// Rows of memory that will be read soon, prefetched a few at a time: many prefetches at once wait for each other, and
// delay the loads that follow.
class PrefetchQueue {
 public:
  static constexpr std::int64_t kLine = 64;  // bytes of a cache line

  PrefetchQueue() = default;
  // bytes: the largest size of a row.
  PrefetchQueue(std::int64_t rows, std::int64_t bytes) : rows_(rows), lines_(blocks(bytes, kLine)) {}

  // Adds rows that are `stride` elements apart.
  template <class S>
  void add(const S* from, std::int64_t stride) {
    if (rows_ == 0) return;
    runs_[count_++] = {reinterpret_cast<const char*>(from), stride * static_cast<std::int64_t>(sizeof(S)), rows_};
    total_ += rows_;
  }

  // Sets how much each call prefetches, so that `times` calls suffice.
  void spread(std::int64_t times) { each_ = blocks(total_, times); }

  enum Where { kIntoL2 = 2, kIntoL1 = 3 };  // what __builtin_prefetch calls locality
  template <Where kWhere = kIntoL1>
  void ask() {
    for (std::int64_t n = each_; n > 0 && done_ != count_; --n) {
      Run& run = runs_[done_];
      for (std::int64_t line = 0; line < lines_; ++line) __builtin_prefetch(run.from + line * kLine, 0, kWhere);
      run.from += run.stride;
      if (--run.left == 0) ++done_;
    }
  }
  bool finished() const { return done_ == count_; }

 private:
  static constexpr int kMost = 13;  // an LSTM with peepholes: 9 tensors in, 4 gates out
  struct Run {
    const char* from;
    std::int64_t stride, left;
  };

  Run runs_[kMost];
  std::int64_t count_ = 0, done_ = 0;
  std::int64_t rows_ = 0, total_ = 0, lines_ = 0, each_ = 0;
};

}  // namespace backgauge::cpu
