// SPDX-License-Identifier: Apache-2.0
// Hands out the memory of a workspace, or only counts it, so that prepare and run cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge::onednn {

class MemoryPlan {
 public:
  // What oneDNN lays out its workspace for.
  static constexpr std::size_t kAlignment = 4096;

  // Counts only, and hands out nullptr.
  MemoryPlan() = default;
  // base: aligned to kAlignment.
  explicit MemoryPlan(void* base) : base_(static_cast<std::byte*>(base)), counts_only_(false) {}

  void* bytes(std::size_t size) {
    const std::size_t begin = used_;
    used_ += (size + kAlignment - 1) / kAlignment * kAlignment;
    return counts_only_ ? nullptr : base_ + begin;
  }
  float* floats(std::int64_t count) {
    return static_cast<float*>(bytes(static_cast<std::size_t>(count) * sizeof(float)));
  }

  bool counts_only() const { return counts_only_; }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_ = nullptr;
  bool counts_only_ = true;
  std::size_t used_ = 0;
};

}  // namespace backgauge::onednn
