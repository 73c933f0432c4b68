// SPDX-License-Identifier: Apache-2.0
// Hands out the memory of a workspace, or only counts it: an op takes all it needs in one place, which serves prepare
// and run alike, so that the two cannot disagree. On the host arrays hold NaN at first, and what lies between them is
// watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "impl/call_error.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

class Workspace {
 public:
  // What cuBLASLt wants of its own part.
  static constexpr std::uint64_t kAlignment = 256;

  // Counts only, and hands out nullptr.
  Workspace() = default;
  // base: aligned to kAlignment; nullptr where nothing is needed.
  explicit Workspace(void* base) : base_(static_cast<std::byte*>(base)), counts_only_(false) {}

  // An array of so many elements, aligned to kAlignment. Dimensions of at least 0.
  template <class T>
  T* take(std::initializer_list<std::int64_t> shape) {
    std::uint64_t size = sizeof(T);
    for (const std::int64_t dimension : shape) {
      overflow_ |= __builtin_mul_overflow(size, static_cast<std::uint64_t>(dimension), &size);
    }
    const std::uint64_t begin = bytes_;
    std::uint64_t padded = 0;
    overflow_ |= __builtin_add_overflow(size, static_cast<std::uint64_t>(kGuardBytes) + kAlignment - 1, &padded);
    overflow_ |= __builtin_add_overflow(begin, padded / kAlignment * kAlignment, &bytes_);
    if (counts_only_) return nullptr;
    if constexpr (kGuardBytes > 0) watch(base_ + begin, size, base_ + bytes_);
    return reinterpret_cast<T*>(base_ + begin);
  }

  bool counts_only() const { return counts_only_; }
  std::uint64_t bytes() const { return bytes_; }
  // Whether bytes() is the truth: no sum or product was too large.
  bool countable() const { return !overflow_ && bytes_ < (std::uint64_t{1} << 60); }

  // After the work. Throws CallError if something was written between two arrays.
  void expect_untouched_guards() const {
    for (const std::span<const std::byte> guard : guards_) {
      for (const std::byte byte : guard) {
        if (byte != kGuard) throw CallError(BACKGAUGE_INTERNAL, "an array of the workspace was written past its end");
      }
    }
  }

 private:
  static constexpr std::byte kGuard{0xa5};

  void watch(std::byte* array, std::uint64_t size, std::byte* end) {
    constexpr int kNan = 0xff;
    std::memset(array, kNan, size);
    guards_.emplace_back(array + size, end);
    std::memset(array + size, static_cast<int>(kGuard), static_cast<std::size_t>(end - (array + size)));
  }

  std::byte* base_ = nullptr;
  bool counts_only_ = true;
  std::uint64_t bytes_ = 0;
  bool overflow_ = false;
  std::vector<std::span<const std::byte>> guards_;
};

}  // namespace backgauge::cuda
