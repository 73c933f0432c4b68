// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad in one pass over memory. Tiles of rows and columns are independent of each other; with peepholes
// each leaves its part of the sums over the batch in the workspace, and they are added in the order of the rows. So no
// output is written before everything that it may share memory with has been read.
#include <algorithm>

#include "impl/cpu/ops.h"
#include "impl/cpu/packing.h"
#include "impl/cpu/pointwise.h"
#include "impl/cpu/threads.h"

namespace backgauge::cpu {
namespace {

// A tile. In float one row of it is 13 pieces of 2 KiB, which fit an L1; 32 rows are what a thread costs to start.
constexpr std::int64_t kRows = 32, kColumns = 512;
constexpr double kElementsPerThread = kRows * kColumns;

// sums[3, kColumns] of di * cs_prev, df * cs_prev, do * cs.
template <bool kPeephole, class S, class T>
void backward_tile(const LstmBlockCellGradCall<S>& call, const Block& rows, const Block& columns, T* sums) {
  const LstmBlockCellGradCall<S> c = call;  // a local copy: stores to the outputs cannot change these pointers
  const std::int64_t H = c.H;
  for (std::int64_t row = rows.begin; row < rows.begin + rows.size; ++row) {
    const std::int64_t at = row * H + columns.begin;
    S* gates = c.dicfo + row * 4 * H + columns.begin;
    BACKGAUGE_INDEPENDENT
    for (std::int64_t j = 0; j < columns.size; ++j) {
      const std::int64_t k = at + j;
      const T cs_prev = wide(c.cs_prev[k]);
      T wci = 0, wcf = 0, wco = 0;
      if constexpr (kPeephole) {
        wci = wide(c.wci[columns.begin + j]);
        wcf = wide(c.wcf[columns.begin + j]);
        wco = wide(c.wco[columns.begin + j]);
      }
      const LstmGradient<T> d =
          lstm_backward<kPeephole, T>({cs_prev, wide(c.i[k]), wide(c.f[k]), wide(c.o[k]), wide(c.ci[k]), wide(c.co[k]),
                                       wide(c.cs_grad[k]), wide(c.h_grad[k])},
                                      wci, wcf, wco);
      c.cs_prev_grad[k] = S(d.cs_prev);
      gates[j] = S(d.i);
      gates[H + j] = S(d.ci);
      gates[2 * H + j] = S(d.f);
      gates[3 * H + j] = S(d.o);
      if constexpr (kPeephole) {
        sums[j] += d.i * cs_prev;
        sums[kColumns + j] += d.f * cs_prev;
        sums[2 * kColumns + j] += d.o * wide(c.cs[k]);
      }
    }
  }
}

}  // namespace

template <class S>
void lstm_block_cell_grad(const LstmBlockCellGradCall<S>& call, Workspace& workspace) {
  using T = Compute<S>;
  const std::int64_t H = call.H, row_blocks = blocks(call.B, kRows), column_blocks = blocks(H, kColumns);
  T* sums = call.peephole ? workspace.take<T>({row_blocks, column_blocks, 3, kColumns}) : nullptr;
  if (workspace.counts_only()) return;

  const double elements = static_cast<double>(call.B) * static_cast<double>(H);
  run_team(team_size(call.num_threads, elements, kElementsPerThread), [&](Member& member) {
    const Range tiles = member.share(row_blocks * column_blocks);
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const Block rows = block(call.B, row_blocks, tile / column_blocks);
      const Block columns = block(H, column_blocks, tile % column_blocks);
      if (call.peephole) {
        T* tile_sums = sums + tile * 3 * kColumns;
        std::fill_n(tile_sums, 3 * kColumns, T(0));
        backward_tile<true, S, T>(call, rows, columns, tile_sums);
      } else {
        backward_tile<false, S, T>(call, rows, columns, nullptr);
      }
    }
    if (!call.peephole) {
      for (S* zeros : {call.wci_grad, call.wcf_grad, call.wco_grad}) fill_zero(member, H, zeros);
      return;
    }
    member.wait();
    S* const outputs[] = {call.wci_grad, call.wcf_grad, call.wco_grad};
    const Range parts = member.share(3 * column_blocks);
    for (std::int64_t part = parts.begin; part < parts.end; ++part) {
      const std::int64_t which = part / column_blocks, column_block = part % column_blocks;
      const Block columns = block(H, column_blocks, column_block);
      for (std::int64_t j = 0; j < columns.size; ++j) {
        T sum = 0;
        for (std::int64_t r = 0; r < row_blocks; ++r) {
          sum += sums[((r * column_blocks + column_block) * 3 + which) * kColumns + j];
        }
        outputs[which][columns.begin + j] = S(sum);
      }
    }
  });
}

template void lstm_block_cell_grad(const LstmBlockCellGradCall<Half>&, Workspace&);
template void lstm_block_cell_grad(const LstmBlockCellGradCall<float>&, Workspace&);

}  // namespace backgauge::cpu
