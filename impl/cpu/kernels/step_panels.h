// SPDX-License-Identifier: Apache-2.0
// The memory layout of the matrices of every step that products read: the gradients of all gates, written once by the
// pointwise part of a step and read in place as either operand; inputs and states of the forward pass, as one gate.
//   [block of steps] [gate] [panel of columns] [row of the block] [column of the panel]
// A block is as deep as a cached piece of an operand; its rows are a cache line or two each and follow each other.
#pragma once

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/kernels/workspace.h"

namespace backgauge::cpu {

template <class T>
class StepPanels {
 public:
  // panel: columns of a panel.
  StepPanels(std::int64_t steps, std::int64_t batch, std::int64_t gates, std::int64_t columns, std::int64_t panel)
      : steps_(steps),
        batch_(batch),
        panel_(panel),
        panels_(cpu::blocks(columns, panel)),
        chunks_(gates * panels_),
        count_(cpu::blocks(steps * batch, kRows)),
        tail_(columns - (panels_ - 1) * panel) {
    if (steps > 0) count_ = std::clamp(count_, std::int64_t{1}, steps);
    rows_ = count_ == 0 ? 0 : cpu::blocks(steps, count_) * batch;
    chunk_ = (rows_ | 1) * panel;  // odd: chunks start in different sets of a cache
  }

  void take(Workspace& workspace) { data_ = workspace.take<T>({count_, chunks_, rows_ | 1, panel_}); }

  std::int64_t blocks() const { return count_; }
  Block rows(std::int64_t block) const {
    const Block part = cpu::block(steps_, count_, block);
    return {part.begin * batch_, part.size * batch_};
  }
  std::int64_t chunks() const { return chunks_; }       // panels of all gates
  std::int64_t panels() const { return panels_; }       // of one gate
  std::int64_t tail() const { return tail_; }           // columns of the last panel of a gate
  std::int64_t chunk_stride() const { return chunk_; }  // elements

  // Row 0 of a chunk of a block.
  T* at(std::int64_t block, std::int64_t chunk) const { return data_ + (block * chunks_ + chunk) * chunk_; }
  // Row 0 of step t in chunk 0.
  T* step(std::int64_t t) const {
    const std::int64_t each = steps_ / count_, rest = steps_ % count_;
    const std::int64_t index = t < rest * (each + 1) ? t / (each + 1) : rest + (t - rest * (each + 1)) / each;
    return at(index, 0) + (t - cpu::block(steps_, count_, index).begin) * batch_ * panel_;
  }

 private:
  // Rows of a block, chosen so that a panel of float takes half of a 32 KiB L1.
  static constexpr std::int64_t kRows = 256;

  std::int64_t steps_, batch_, panel_, panels_, chunks_, count_, tail_, rows_, chunk_;
  T* data_ = nullptr;
};

}  // namespace backgauge::cpu
