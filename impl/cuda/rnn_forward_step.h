// SPDX-License-Identifier: Apache-2.0
// The pointwise part of a step of CudnnRNN: computes the state, the values kept for the backward pass, and the output
// from the products with W and R.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rnn_cells.h"
#include "impl/cuda/rnn_trace.h"

namespace backgauge::cuda {

// One step of one pseudo-layer. Rows of y and its operand are y_stride elements apart; all others are dense.
template <class Storage>
struct RnnForwardStep {
  using Real = Compute<Storage>;

  const Real* input_side;      // [B, G*H]: W x; nullptr with skip_input
  const Storage* x;            // [B, H], with skip_input: the input side of every gate
  const Real* recurrent_side;  // [B, G*H]: R h
  const Storage *bW, *bR;      // [G*H]
  // The previous states: at the first step the initial ones; later nullptr, and the values of the previous step.
  const Storage *initial_h, *initial_c;
  const Storage *y_before, *kept_before;
  Storage *kept, *y;         // values
  Operand<Storage> operand;  // y as the products read it
  Storage *last_h, *last_c;  // at the last step, else nullptr
  std::int64_t y_stride;
};

template <class Cell, class S, int kWidth>
struct RnnForwardKernel {
  using Real = Compute<S>;
  static constexpr int kLanes = 32, kRows = 4, kColumns = kLanes * kWidth;
  static constexpr int kThreads = kLanes * kRows, kPhases = 1;
  static constexpr int kGates = Cell::kGates, kKept = Cell::kKept;
  using Shared = Nothing;
  using Local = Nothing;

  RnnForwardStep<S> s;
  std::int64_t rows, columns;

  static std::int64_t blocks(std::int64_t rows, std::int64_t columns) {
    return blocks_for(rows, kRows) * blocks_for(columns, kColumns);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
    const std::int64_t row = thread.block / column_blocks * kRows + thread.index / kLanes;
    const std::int64_t column = thread.block % column_blocks * kColumns + thread.index % kLanes * kWidth;
    if (row < rows && column < columns) forward(row, column);
  }

 private:
  BACKGAUGE_BOTH void forward(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * columns + column;
    Real input[kGates][kWidth], recurrent[kGates][kWidth], h_prev[kWidth] = {}, cs_prev[kWidth] = {};
    BACKGAUGE_UNROLL
    for (int g = 0; g < kGates; ++g) {
      Real bW[kWidth], bR[kWidth];
      if (s.input_side == nullptr) {
        load(s.x + at, input[g]);
      } else {
        load_each(s.input_side + (row * kGates + g) * columns + column, input[g]);
      }
      load_each(s.recurrent_side + (row * kGates + g) * columns + column, recurrent[g]);
      load(s.bW + g * columns + column, bW);
      load(s.bR + g * columns + column, bR);
      BACKGAUGE_UNROLL
      for (int n = 0; n < kWidth; ++n) {
        input[g][n] += bW[n];
        recurrent[g][n] += bR[n];
      }
    }
    if constexpr (Cell::kReadsHPrev) {
      if (s.initial_h != nullptr) {
        load(s.initial_h + at, h_prev);
      } else {
        load_values(s.y_before, row * s.y_stride + column, h_prev);
      }
    }
    if constexpr (Cell::kHasState) {
      if (s.initial_c != nullptr) {
        load(s.initial_c + at, cs_prev);
      } else {
        load_values(s.kept_before, (row * kKept + Cell::kState) * columns + column, cs_prev);
      }
    }
    Real kept[kKept > 0 ? kKept : 1][kWidth], y[kWidth];
    BACKGAUGE_UNROLL
    for (int n = 0; n < kWidth; ++n) {
      Real a[kGates], r[kGates], k[kKept > 0 ? kKept : 1];
      BACKGAUGE_UNROLL
      for (int g = 0; g < kGates; ++g) {
        a[g] = input[g][n];
        r[g] = recurrent[g][n];
      }
      y[n] = Cell::template forward<Real>(a, r, h_prev[n], cs_prev[n], k);
      BACKGAUGE_UNROLL
      for (int m = 0; m < kKept; ++m) kept[m][n] = k[m];
    }
    leave(row, column, kept, y);
  }

  template <int kCount>
  BACKGAUGE_BOTH void leave(std::int64_t row, std::int64_t column, const Real (&kept)[kCount][kWidth],
                            const Real (&y)[kWidth]) const {
    const std::int64_t at = row * columns + column, y_at = row * s.y_stride + column;
    BACKGAUGE_UNROLL
    for (int k = 0; k < kKept; ++k) store_values(kept[k], s.kept, (row * kKept + k) * columns + column);
    store_values(y, s.y, y_at);
    store_operand(y, s.operand + y_at);
    if (s.last_h != nullptr) store(y, s.last_h + at);
    if constexpr (Cell::kHasState) {
      if (s.last_c != nullptr) store(kept[Cell::kState], s.last_c + at);
    }
  }
};

}  // namespace backgauge::cuda
