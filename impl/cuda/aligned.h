// SPDX-License-Identifier: Apache-2.0
// Tensors of a call as matrices of products. A library may order its sums by how its matrices are aligned; so that the
// same call gives the same bits wherever its tensors lie, those that do not begin at a multiple of 16 bytes are copied.
// So are operands that are to be split.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rows.h"

namespace backgauge::cuda {

template <class Storage>
class AlignedInput {
 public:
  AlignedInput(Workspace& workspace, const Storage* tensor, std::int64_t count)
      : tensor_(tensor), count_(count), copy_(take_operand<Storage>(workspace, {count})) {}

  // Before anything reads operand().
  void fetch(Queue& queue) const {
    if (copy_.low != 0) {
      const bool wide = is_aligned(count_, sizeof(Storage), tensor_);
      make_rows<Storage>(queue, StoredRows<Storage>{tensor_, count_}, copy_, 1, count_, wide);
    } else if (operand().data == copy_.data) {
      queue.copy(copy_.data, tensor_, count_ * static_cast<std::int64_t>(sizeof(Storage)));
    }
  }
  Operand<const Storage> operand() const {
    return copy_.low == 0 && is_aligned(0, 1, tensor_) ? Operand<const Storage>{tensor_} : copy_;
  }

 private:
  const Storage* tensor_;
  std::int64_t count_;
  Operand<Storage> copy_;
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
