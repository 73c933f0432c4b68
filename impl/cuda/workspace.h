// SPDX-License-Identifier: Apache-2.0
// The memory of a call. On the host arrays hold NaN at first, and what lies between them is watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "impl/call_error.h"
#include "impl/cuda/device/work.h"
#include "impl/workspace.h"

namespace backgauge::cuda {

// Aligned to what cuBLASLt requires of its own part.
class Workspace : public backgauge::Workspace<256> {
 public:
  using backgauge::Workspace<256>::Workspace;

  // As in impl/workspace.h.
  template <class T>
  T* take(std::initializer_list<std::int64_t> shape) {
    const std::uint64_t size = size_of<T>(shape);
    std::byte* const array = take_bytes(size, kGuardBytes);
    if constexpr (kGuardBytes > 0) {
      if (!counts_only()) watch(array, size, end());
    }
    return reinterpret_cast<T*>(array);
  }

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

  std::vector<std::span<const std::byte>> guards_;
};

}  // namespace backgauge::cuda
