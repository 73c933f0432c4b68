// SPDX-License-Identifier: Apache-2.0
// The memory of a call, and its tensors as cuDNN wants them: where one is aligned to its elements alone, a copy in the
// workspace takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "impl/cudnn/library.h"
#include "impl/workspace.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cudnn {

// Aligned to what cudaMalloc gives; cuDNN promises to work with no less.
using Workspace = backgauge::Workspace<256>;

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
