// SPDX-License-Identifier: Apache-2.0
// Sums over the rows of a matrix, in an order that depends only on its shape.
#pragma once

#include "impl/cuda/device/kernel.h"
#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"

namespace backgauge::cuda {

// A block sums up to kRows rows of 32 columns: each of its 8 lanes every eighth row, then the lanes in order.
template <class Real, class Result, int kOutputs>
struct ColumnSumsKernel {
  static constexpr int kColumns = 32, kLanes = 8;
  static constexpr std::int64_t kRows = 512;
  static constexpr int kThreads = kColumns * kLanes;
  static constexpr int kPhases = 2;
  struct Shared {
    Real of[kLanes][kColumns];
  };
  using Local = Nothing;

  const Real* from;  // [rows, columns]
  std::int64_t rows, columns;
  // [row blocks, columns / kOutputs] each: equal contiguous shares of the columns.
  Result* to[kOutputs];

  static std::int64_t blocks(std::int64_t rows, std::int64_t columns) {
    return blocks_for(rows, kRows) * blocks_for(columns, kColumns);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared& shared, Local&) const {
    const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
    const std::int64_t row_block = thread.block / column_blocks;
    const int own_column = thread.index % kColumns, lane = thread.index / kColumns;
    const std::int64_t column = thread.block % column_blocks * kColumns + own_column;
    if constexpr (kPhase == 0) {
      const std::int64_t end = (row_block + 1) * kRows < rows ? (row_block + 1) * kRows : rows;
      Real sum = 0;
      if (column < columns) {
        for (std::int64_t row = row_block * kRows + lane; row < end; row += kLanes) sum += from[row * columns + column];
      }
      shared.of[lane][own_column] = sum;
    } else if (lane == 0 && column < columns) {
      Real sum = shared.of[0][own_column];
      BACKGAUGE_UNROLL
      for (int k = 1; k < kLanes; ++k) sum += shared.of[k][own_column];
      const std::int64_t each = columns / kOutputs;
      to[column / each][row_block * each + column % each] = narrow<Result>(sum);
    }
  }
};

// Takes from the workspace the memory that the sums of this many rows and columns need.
template <class Real>
class ColumnSums {
 public:
  ColumnSums(std::int64_t rows, std::int64_t columns, Workspace& workspace) : rows_(rows), columns_(columns) {
    const std::int64_t partial_rows = blocks_for(rows, kRows);
    if (partial_rows <= 1) return;
    partial_[0] = workspace.take<Real>({partial_rows, columns});
    partial_[1] = workspace.take<Real>({blocks_for(partial_rows, kRows), columns});
  }

  // from[rows, columns]. to: each gets the same number of columns. The sum of no rows is zero.
  template <class Result, int kOutputs>
  void run(Queue& queue, const Real* from, Result* const (&to)[kOutputs]) const {
    std::int64_t rows = rows_;
    for (int k = 0; rows > kRows; ++k) {
      Real* const next = partial_[k % 2];
      queue.launch(ColumnSumsKernel<Real, Real, 1>::blocks(rows, columns_),
                   ColumnSumsKernel<Real, Real, 1>{from, rows, columns_, {next}});
      from = next;
      rows = blocks_for(rows, kRows);
    }
    ColumnSumsKernel<Real, Result, kOutputs> last{from, rows, columns_, {}};
    for (int k = 0; k < kOutputs; ++k) last.to[k] = to[k];
    queue.launch(last.blocks(1, columns_), last);
  }

 private:
  static constexpr std::int64_t kRows = ColumnSumsKernel<Real, Real, 1>::kRows;

  std::int64_t rows_, columns_;
  Real* partial_[2] = {};
};

}  // namespace backgauge::cuda
