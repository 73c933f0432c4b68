// SPDX-License-Identifier: Apache-2.0
// Tensors of a call as matrices of products. The order of a library's sums may depend on the alignment of its matrices.
// Tensors that are not aligned to 16 bytes are copied, so that a call gives the same bits for any placement. Operands
// that must be split are copied too.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rows.h"

namespace backgauge::cuda {

template <class Storage>
class AlignedInput {
 public:
  AlignedInput(Workspace& workspace, const Storage* tensor, std::int64_t count)
      : tensor_(tensor), count_(count), copy_(take_operand<Storage>(workspace, {count})) {}

  // Must be called before operand() is read.
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

  // Must be called after data() has been written completely.
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
