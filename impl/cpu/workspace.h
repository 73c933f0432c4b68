// SPDX-License-Identifier: Apache-2.0
// Hands out the memory of a workspace, or only counts it: an op takes all it needs in one place, which serves prepare
// and run alike, so that the two cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace backgauge::cpu {

class Workspace {
 public:
  // A cache line, and the widest vector.
  static constexpr std::uint64_t kAlignment = 64;

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
    overflow_ |= __builtin_add_overflow(size, kAlignment - 1, &size);
    overflow_ |= __builtin_add_overflow(begin, size / kAlignment * kAlignment, &bytes_);
    return counts_only_ ? nullptr : reinterpret_cast<T*>(base_ + begin);
  }

  bool counts_only() const { return counts_only_; }
  std::uint64_t bytes() const { return bytes_; }
  // Whether bytes() is the truth: no sum or product was too large.
  bool countable() const { return !overflow_ && bytes_ < (std::uint64_t{1} << 60); }

 private:
  std::byte* base_ = nullptr;
  bool counts_only_ = true;
  std::uint64_t bytes_ = 0;
  bool overflow_ = false;
};

}  // namespace backgauge::cpu
