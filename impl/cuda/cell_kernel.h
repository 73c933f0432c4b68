// SPDX-License-Identifier: Apache-2.0
// The pointwise part of an LSTM step: a block takes 4 rows at a time of as many columns as a warp reads in vectors, and
// leaves the sums of its rows, which column_sums.h adds up.
#pragma once

#include "impl/cuda/lstm_cell.h"
#include "impl/cuda/operand.h"

namespace backgauge::cuda {

// All that a step reads and writes. Rows of H elements follow each other; those of gates lie 4H apart.
template <class Storage>
struct CellTensors : LstmInputs<Storage> {
  Storage *gate_i, *gate_f, *gate_ci, *gate_o;  // [B, H] of stride 4H
  Storage* cs_prev_grad;                        // [B, H]; where nothing is carried
  // What comes from the step after this one and goes to the one before; where it is carried.
  const Compute<Storage>* dh;  // [B, H]
  Compute<Storage>* dcs;       // [B, H], from and to
  Compute<Storage>* sums;      // [cell_row_blocks(), cell_sums(), H]
  std::int64_t gate_low = 0;   // that of the gates as an operand of products
};

inline constexpr int kCellLanes = 32, kCellRows = 4;

// rows_each: how often a block takes kCellRows rows.
inline std::int64_t cell_row_blocks(std::int64_t rows, std::int64_t rows_each) {
  return blocks_for(rows, kCellRows * rows_each);
}

// Source: has Storage, kCarried, and BACKGAUGE_BOTH CellTensors<Storage> tensors() const.
// kWidth: elements of an access, 1 or kVector<Storage>.
template <class Source, int kWidth, bool kPeephole>
struct CellKernel {
  using Storage = typename Source::Storage;
  using Real = Compute<Storage>;
  static constexpr bool kCarried = Source::kCarried;
  static constexpr int kSums = cell_sums(kCarried, kPeephole);
  static constexpr int kColumns = kCellLanes * kWidth;

  static constexpr int kThreads = kCellLanes * kCellRows;
  static constexpr int kPhases = kSums > 0 ? 2 : 1;
  struct Sums {
    Real of[kSums > 0 ? kSums : 1][kCellRows][kColumns];
  };
  using Shared = std::conditional_t<(kSums > 0), Sums, Nothing>;
  using Local = Nothing;

  Source source;
  std::int64_t rows, columns, rows_each;

  static std::int64_t blocks(std::int64_t rows, std::int64_t columns, std::int64_t rows_each) {
    return cell_row_blocks(rows, rows_each) * blocks_for(columns, kColumns);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared& shared, Local&) const {
    const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
    const std::int64_t row_block = thread.block / column_blocks;
    const std::int64_t first_column = thread.block % column_blocks * kColumns;
    if constexpr (kPhase == 0) {
      backward(thread, row_block, first_column, shared);
    } else {
      leave_sums(thread, row_block, first_column, shared);
    }
  }

 private:
  BACKGAUGE_BOTH void backward(const Thread& thread, std::int64_t row_block, std::int64_t first_column,
                               Shared& shared) const {
    const int lane = thread.index % kCellLanes, own_row = thread.index / kCellLanes;
    const std::int64_t column = first_column + lane * kWidth;
    Real sums[kSums > 0 ? kSums : 1][kWidth] = {};
    if (column < columns) {
      const CellTensors<Storage> t = source.tensors();
      Real wci[kWidth] = {}, wcf[kWidth] = {}, wco[kWidth] = {};
      if constexpr (kPeephole) {
        load(t.wci + column, wci);
        load(t.wcf + column, wcf);
        load(t.wco + column, wco);
      }
      for (std::int64_t k = 0; k < rows_each; ++k) {
        const std::int64_t row = (row_block * rows_each + k) * kCellRows + own_row;
        if (row < rows) backward_row(t, row, column, wci, wcf, wco, sums);
      }
    }
    if constexpr (kSums > 0) {
      BACKGAUGE_UNROLL
      for (int sum = 0; sum < kSums; ++sum) {
        BACKGAUGE_UNROLL
        for (int n = 0; n < kWidth; ++n) shared.of[sum][own_row][lane * kWidth + n] = sums[sum][n];
      }
    }
  }

  template <int kCount>
  BACKGAUGE_BOTH void backward_row(const CellTensors<Storage>& t, std::int64_t row, std::int64_t column,
                                   const Real (&wci)[kWidth], const Real (&wcf)[kWidth], const Real (&wco)[kWidth],
                                   Real (&sums)[kCount][kWidth]) const {
    const std::int64_t at = row * columns + column, gate = row * 4 * columns + column;
    Real cs_prev[kWidth], cs[kWidth] = {}, i[kWidth], f[kWidth], o[kWidth], ci[kWidth], co[kWidth];
    Real cs_grad[kWidth], h_grad[kWidth];
    load(t.cs_prev + at, cs_prev);
    load(t.i + at, i);
    load(t.f + at, f);
    load(t.o + at, o);
    load(t.ci + at, ci);
    load(t.co + at, co);
    load(t.cs_grad + at, cs_grad);
    load(t.h_grad + at, h_grad);
    if constexpr (kPeephole) load(t.cs + at, cs);
    if constexpr (kCarried) {
      Real dh[kWidth], dcs[kWidth];
      load_each(t.dh + at, dh);
      load_each(t.dcs + at, dcs);
      BACKGAUGE_UNROLL
      for (int n = 0; n < kWidth; ++n) {
        h_grad[n] += dh[n];
        cs_grad[n] += dcs[n];
      }
    }
    Real di[kWidth], df[kWidth], dci[kWidth], do_[kWidth], dcs_prev[kWidth];
    BACKGAUGE_UNROLL
    for (int n = 0; n < kWidth; ++n) {
      const CellGradients<Real> d = cell_gradients<kPeephole, Real>(
          {cs_prev[n], i[n], f[n], o[n], ci[n], co[n], cs_grad[n], h_grad[n]}, {wci[n], wcf[n], wco[n]});
      di[n] = d.i;
      df[n] = d.f;
      dci[n] = d.ci;
      do_[n] = d.o;
      dcs_prev[n] = d.cs_prev;
      if constexpr (kSums > 0) {
        Real terms[kSums];
        cell_sum_terms<kCarried, kPeephole>(d, cs_prev[n], cs[n], terms);
        BACKGAUGE_UNROLL
        for (int sum = 0; sum < kSums; ++sum) sums[sum][n] += terms[sum];
      }
    }
    if constexpr (kCarried) {
      store_operand(di, Operand<Storage>{t.gate_i + gate, t.gate_low});
      store_operand(df, Operand<Storage>{t.gate_f + gate, t.gate_low});
      store_operand(dci, Operand<Storage>{t.gate_ci + gate, t.gate_low});
      store_operand(do_, Operand<Storage>{t.gate_o + gate, t.gate_low});
      store_each(dcs_prev, t.dcs + at);
    } else {
      store(di, t.gate_i + gate);
      store(df, t.gate_f + gate);
      store(dci, t.gate_ci + gate);
      store(do_, t.gate_o + gate);
      store(dcs_prev, t.cs_prev_grad + at);
    }
  }

  BACKGAUGE_BOTH void leave_sums(const Thread& thread, std::int64_t row_block, std::int64_t first_column,
                                 const Shared& shared) const {
    if constexpr (kSums > 0) {
      Real* const sums = source.tensors().sums + row_block * kSums * columns;
      for (int column = thread.index; column < kColumns && first_column + column < columns; column += kThreads) {
        BACKGAUGE_UNROLL
        for (int sum = 0; sum < kSums; ++sum) {
          Real total = shared.of[sum][0][column];
          BACKGAUGE_UNROLL
          for (int row = 1; row < kCellRows; ++row) total += shared.of[sum][row][column];
          sums[sum * columns + first_column + column] = total;
        }
      }
    }
  }
};

}  // namespace backgauge::cuda
