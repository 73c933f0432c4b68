// SPDX-License-Identifier: Apache-2.0
// Matrices of a call as operands of products. A library may order its sums by how its matrices are aligned; so that the
// same call gives the same bits wherever its tensors lie, those that do not begin at a multiple of 16 bytes are copied.
#pragma once

#include "impl/cuda/device/kernel.h"
#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"

namespace backgauge::cuda {

template <class Storage>
class AlignedInput {
 public:
  AlignedInput(Workspace& workspace, const Storage* tensor, std::int64_t count)
      : tensor_(tensor), count_(count), copy_(workspace.take<Storage>({count})) {}

  // Before anything reads data().
  void fetch(Queue& queue) const {
    if (data() == copy_) queue.copy(copy_, tensor_, count_ * static_cast<std::int64_t>(sizeof(Storage)));
  }
  const Storage* data() const { return is_aligned(0, 1, tensor_) ? tensor_ : copy_; }

 private:
  const Storage* tensor_;
  std::int64_t count_;
  Storage* copy_;
};

template <class Storage>
class AlignedOutput {
 public:
  AlignedOutput(Workspace& workspace, Storage* tensor, std::int64_t count)
      : tensor_(tensor), count_(count), copy_(workspace.take<Storage>({count})) {}

  // After everything has been written to data().
  void deliver(Queue& queue) const {
    if (data() == copy_) queue.copy(tensor_, copy_, count_ * static_cast<std::int64_t>(sizeof(Storage)));
  }
  Storage* data() const { return is_aligned(0, 1, tensor_) ? tensor_ : copy_; }

 private:
  Storage* tensor_;
  std::int64_t count_;
  Storage* copy_;
};

}  // namespace backgauge::cuda
