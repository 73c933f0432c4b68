// SPDX-License-Identifier: Apache-2.0
// The pointwise part of a step of CudnnRNNBackprop: computes the gradients of the gates from those of the states after
// the step. A block computes 4 rows of as many columns as a warp reads in vectors, and writes the sums of its rows,
// which column_sums.h adds.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rnn_cells.h"
#include "impl/cuda/rnn_trace.h"

namespace backgauge::cuda {

// One step of one pseudo-layer. Rows of y and dy are y_stride elements apart; all others are dense.
template <class Storage>
struct RnnBackwardStep {
  using Real = Compute<Storage>;

  const Storage *kept, *y;  // values
  // The previous states: at the first step in forward order the initial ones, else nullptr; and those of the step
  // before.
  const Storage *initial_h, *initial_c;
  const Storage *y_before, *kept_before;
  const Storage* output_backprop;  // for the last layer, else nullptr
  const Real* dy;                  // for other layers
  Real *dh, *dc;                   // [B, H]: on input after the step, on output before it
  Operand<Storage> dgates;         // [B, gradients * H]
  Real* sums;                      // [row blocks, gradients, H]
  Real* gate_sums;                 // with skip_input [B, H]: of the input side, else nullptr
  std::int64_t y_stride;
};

inline constexpr int kRnnRows = 4;

inline std::int64_t rnn_row_blocks(std::int64_t rows) { return blocks_for(rows, kRnnRows); }

template <class Cell, class S, int kWidth>
struct RnnBackwardKernel {
  using Real = Compute<S>;
  static constexpr int kLanes = 32, kColumns = kLanes * kWidth;
  static constexpr int kThreads = kLanes * kRnnRows, kPhases = 2;
  static constexpr int kGates = Cell::kGates, kKept = Cell::kKept, kGradients = Cell::kGradients;
  struct Shared {
    Real of[kGradients][kRnnRows][kColumns];
  };
  using Local = Nothing;

  RnnBackwardStep<S> s;
  std::int64_t rows, columns;

  static std::int64_t blocks(std::int64_t rows, std::int64_t columns) {
    return rnn_row_blocks(rows) * blocks_for(columns, kColumns);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared& shared, Local&) const {
    const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
    const std::int64_t row_block = thread.block / column_blocks;
    const std::int64_t first_column = thread.block % column_blocks * kColumns;
    if constexpr (kPhase == 0) {
      const int own_row = thread.index / kLanes, own_column = thread.index % kLanes * kWidth;
      const std::int64_t row = row_block * kRnnRows + own_row, column = first_column + own_column;
      Real gates[kGradients][kWidth] = {};
      if (row < rows && column < columns) backward(row, column, gates);
      BACKGAUGE_UNROLL
      for (int g = 0; g < kGradients; ++g) {
        BACKGAUGE_UNROLL
        for (int n = 0; n < kWidth; ++n) shared.of[g][own_row][own_column + n] = gates[g][n];
      }
    } else {
      leave_sums(thread, row_block, first_column, shared);
    }
  }

 private:
  BACKGAUGE_BOTH void backward(std::int64_t row, std::int64_t column, Real (&gates)[kGradients][kWidth]) const {
    const std::int64_t at = row * columns + column, y_at = row * s.y_stride + column;
    Real kept[kKept > 0 ? kKept : 1][kWidth], h[kWidth] = {}, h_prev[kWidth] = {}, cs_prev[kWidth] = {};
    Real dy[kWidth], dh[kWidth], dc[kWidth] = {};
    BACKGAUGE_UNROLL
    for (int k = 0; k < kKept; ++k) load_values(s.kept, (row * kKept + k) * columns + column, kept[k]);
    if constexpr (Cell::kReadsH) load_values(s.y, y_at, h);
    if constexpr (Cell::kReadsHPrev) {
      if (s.initial_h != nullptr) {
        load(s.initial_h + at, h_prev);
      } else {
        load_values(s.y_before, y_at, h_prev);
      }
    }
    if constexpr (Cell::kHasState) {
      if (s.initial_c != nullptr) {
        load(s.initial_c + at, cs_prev);
      } else {
        load_values(s.kept_before, (row * kKept + Cell::kState) * columns + column, cs_prev);
      }
      load_each(s.dc + at, dc);
    }
    if (s.output_backprop != nullptr) {
      load(s.output_backprop + y_at, dy);
    } else {
      load_each(s.dy + y_at, dy);
    }
    load_each(s.dh + at, dh);
    BACKGAUGE_UNROLL
    for (int n = 0; n < kWidth; ++n) {
      Real k[kKept > 0 ? kKept : 1], g[kGradients];
      BACKGAUGE_UNROLL
      for (int m = 0; m < kKept; ++m) k[m] = kept[m][n];
      RnnGradient<Real> d = {dh[n] + dy[n], dc[n]};
      Cell::template backward<Real>(k, {h[n], h_prev[n], cs_prev[n]}, d, g);
      BACKGAUGE_UNROLL
      for (int m = 0; m < kGradients; ++m) gates[m][n] = g[m];
      dh[n] = d.dh;
      dc[n] = d.dc;
    }
    if constexpr (Cell::kReadsHPrev) store_each(dh, s.dh + at);
    if constexpr (Cell::kHasState) store_each(dc, s.dc + at);
    leave_gates(row, column, gates);
  }

  BACKGAUGE_BOTH void leave_gates(std::int64_t row, std::int64_t column,
                                  const Real (&gates)[kGradients][kWidth]) const {
    BACKGAUGE_UNROLL
    for (int g = 0; g < kGradients; ++g) {
      store_operand(gates[g], s.dgates + ((row * kGradients + g) * columns + column));
    }
    if (s.gate_sums == nullptr) return;
    Real sum[kWidth];
    BACKGAUGE_UNROLL
    for (int n = 0; n < kWidth; ++n) {
      sum[n] = gates[kGradients - kGates][n];
      BACKGAUGE_UNROLL
      for (int g = kGradients - kGates + 1; g < kGradients; ++g) sum[n] += gates[g][n];
    }
    store_each(sum, s.gate_sums + row * columns + column);
  }

  BACKGAUGE_BOTH void leave_sums(const Thread& thread, std::int64_t row_block, std::int64_t first_column,
                                 const Shared& shared) const {
    Real* const sums = s.sums + row_block * kGradients * columns;
    for (int column = thread.index; column < kColumns && first_column + column < columns; column += kThreads) {
      BACKGAUGE_UNROLL
      for (int g = 0; g < kGradients; ++g) {
        Real total = shared.of[g][0][column];
        BACKGAUGE_UNROLL
        for (int row = 1; row < kRnnRows; ++row) total += shared.of[g][row][column];
        sums[g * columns + first_column + column] = total;
      }
    }
  }
};

}  // namespace backgauge::cuda
