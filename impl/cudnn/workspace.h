// SPDX-License-Identifier: Apache-2.0
// The workspace of a call, handed out piece by piece or only counted, and the tensors of the call as cuDNN wants them:
// where one is aligned to its elements alone, a copy in the workspace takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "impl/cudnn/library.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cudnn {

class Workspace {
 public:
  // What cudaMalloc gives; cuDNN promises to work with no less.
  static constexpr std::size_t kAlignment = 256;

  // Counts only, and hands out nullptr.
  Workspace() = default;
  // base: aligned to kAlignment.
  explicit Workspace(void* base) : base_(static_cast<std::byte*>(base)), counts_only_(false) {}

  void* bytes(std::size_t size) {
    const std::size_t begin = used_;
    used_ += (size + kAlignment - 1) / kAlignment * kAlignment;
    return counts_only_ || size == 0 ? nullptr : base_ + begin;
  }

  bool counts_only() const { return counts_only_; }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_ = nullptr;
  bool counts_only_ = true;
  std::size_t used_ = 0;
};

// Copies are enqueued on the call's stream. A tensor that the call does not have is nullptr. Where the workspace only
// counts, every tensor is counted as if it had to be copied: prepare sees no addresses.
class Staging {
 public:
  Staging(const backgauge_call& call, Workspace& memory) : call_(call), memory_(memory) {}

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream); }

  const void* input(const char* name) { return changed_input(name); }
  void* changed_input(const char* name);  // one that cuDNN writes; in the copy, where there is one
  void* output(const char* name);         // in finish() it has its values

  void finish();

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
  };

  const backgauge_call& call_;
  Workspace& memory_;
  std::vector<Copy> back_;
};

}  // namespace backgauge::cudnn
