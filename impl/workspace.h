// SPDX-License-Identifier: Apache-2.0
// Distributes the memory of a workspace, or only counts it: an op takes all it needs in one place, which serves prepare
// and run alike, so that the two cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace backgauge {

// kAlignmentBytes: of every array.
template <std::uint64_t kAlignmentBytes>
class Workspace {
 public:
  static constexpr std::uint64_t kAlignment = kAlignmentBytes;

  // Only counts, and returns nullptr for every array.
  Workspace() = default;
  // base: aligned to kAlignment; nullptr where nothing is needed.
  explicit Workspace(void* base) : base_(static_cast<std::byte*>(base)), counts_only_(false) {}

  // An array of so many elements. Dimensions of at least 0.
  template <class T>
  T* take(std::initializer_list<std::int64_t> shape) {
    return reinterpret_cast<T*>(take_bytes(size_of<T>(shape)));
  }
  std::byte* take_bytes(std::uint64_t size) { return take_bytes(size, 0); }

  bool counts_only() const { return counts_only_; }
  std::uint64_t bytes() const { return bytes_; }
  // Whether bytes() is right: no sum or product was too large.
  bool countable() const { return !overflow_ && bytes_ < (std::uint64_t{1} << 60); }

 protected:
  template <class T>
  std::uint64_t size_of(std::initializer_list<std::int64_t> shape) {
    std::uint64_t size = sizeof(T);
    for (const std::int64_t dimension : shape) {
      overflow_ |= __builtin_mul_overflow(size, static_cast<std::uint64_t>(dimension), &size);
    }
    return size;
  }
  // An array, with so many bytes more that belong to nothing.
  std::byte* take_bytes(std::uint64_t size, std::uint64_t unused) {
    const std::uint64_t begin = bytes_;
    overflow_ |= __builtin_add_overflow(size, unused + kAlignment - 1, &size);
    overflow_ |= __builtin_add_overflow(begin, size / kAlignment * kAlignment, &bytes_);
    return counts_only_ ? nullptr : base_ + begin;
  }
  // Where the next array will begin.
  std::byte* end() const { return base_ + bytes_; }

 private:
  std::byte* base_ = nullptr;
  bool counts_only_ = true;
  std::uint64_t bytes_ = 0;
  bool overflow_ = false;
};

}  // namespace backgauge
