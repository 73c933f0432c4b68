// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad in one pass over memory. Tiles of rows and columns are independent of each other; with peepholes
// each leaves its part of the sums over the batch in the workspace, and they are added in the order of the rows. So no
// output is written before everything that it may share memory with has been read.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/lstm_block_cell_grad.cc"
#include "impl/cpu/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <algorithm>

#include "impl/cpu/blocks.h"
#include "impl/cpu/lstm-inl.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/path.h"
#include "impl/cpu/pointwise.h"
#include "impl/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// A tile. In float one row of it is 13 pieces of 2 KiB, which fit an L1; 32 rows are what a thread costs to start.
inline constexpr std::int64_t kRows = 32, kColumns = 512;
inline constexpr double kElementsPerThread = kRows * kColumns;

// One vector of columns from `k` on, `gates` and `column` likewise. sums[3, kColumns] of di * cs_prev, df * cs_prev,
// do * cs.
template <bool kPeephole, bool kPart, class S, class T>
HWY_INLINE void backward_lanes(const LstmBlockCellGradCall<S>& c, std::int64_t k, S* gates, std::int64_t column,
                               std::int64_t live, T* sums) {
  const Tag<T> d;
  const auto get = [=](const S* from) HWY_ATTR { return load_live<kPart>(d, from, live); };
  const auto put = [=](Vector<T> value, S* to) HWY_ATTR {
    if constexpr (kPart) {
      store_part(d, value, to, live);
    } else {
      store(d, value, to);
    }
  };
  const Vector<T> cs_prev = get(c.cs_prev + k), zero = hn::Zero(d);
  const LstmGradients<Vector<T>> g =
      lstm_gradients<kPeephole>(cs_prev, get(c.i + k), get(c.f + k), get(c.o + k), get(c.ci + k), get(c.co + k),
                                get(c.cs_grad + k), get(c.h_grad + k), kPeephole ? get(c.wci + column) : zero,
                                kPeephole ? get(c.wcf + column) : zero, kPeephole ? get(c.wco + column) : zero);
  if constexpr (kPeephole) {
    store(d, hn::MulAdd(g.i, cs_prev, load(d, sums)), sums);
    store(d, hn::MulAdd(g.f, cs_prev, load(d, sums + kColumns)), sums + kColumns);
    store(d, hn::MulAdd(g.o, get(c.cs + k), load(d, sums + 2 * kColumns)), sums + 2 * kColumns);
  }
  put(g.cs_prev, c.cs_prev_grad + k);
  put(g.i, gates);
  put(g.ci, gates + c.H);
  put(g.f, gates + 2 * c.H);
  put(g.o, gates + 3 * c.H);
}

// Ordinary stores throughout: streaming ones, a line at a time or from a copied row, were 1.0 to 2.5 times slower on
// Zen 3 even far beyond L3. One row after the other: several at once, often 4 KiB apart, were slower as well.
template <bool kPeephole, class S, class T>
void backward_tile(const LstmBlockCellGradCall<S>& call, const Block& rows, const Block& columns, T* sums) {
  const LstmBlockCellGradCall<S> c = call;  // a local copy: stores to the outputs cannot change these pointers
  constexpr std::int64_t L = kLanes<T>;
  const std::int64_t whole = columns.size / L * L;
  for (std::int64_t row = rows.begin; row < rows.end(); ++row) {
    const std::int64_t first = row * c.H + columns.begin;
    S* const gates = c.dicfo + row * 4 * c.H + columns.begin;
    for (std::int64_t j = 0; j < whole; j += L) {
      backward_lanes<kPeephole, false>(c, first + j, gates + j, columns.begin + j, L, sums + j);
    }
    if (whole < columns.size) {
      backward_lanes<kPeephole, true>(c, first + whole, gates + whole, columns.begin + whole, columns.size - whole,
                                      sums + whole);
    }
  }
}

template <class S>
void cell_grad(const LstmBlockCellGradCall<S>& call, Workspace& workspace) {
  using T = Compute<S>;
  const std::int64_t H = call.H, row_blocks = blocks(call.B, kRows), column_blocks = blocks(H, kColumns);
  T* sums = call.peephole ? workspace.take<T>({row_blocks, column_blocks, 3, kColumns}) : nullptr;
  if (workspace.counts_only()) return;
  const auto columns_of = [=](std::int64_t index) {
    return Block{index * kColumns, std::min(kColumns, H - index * kColumns)};
  };
  const double elements = static_cast<double>(call.B) * static_cast<double>(H);
  run_team(team_size(call.num_threads, elements, kElementsPerThread), [&](Member& member) HWY_ATTR {
    const Range tiles = member.share(row_blocks * column_blocks);
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const Block rows = block(call.B, row_blocks, tile / column_blocks);
      const Block columns = columns_of(tile % column_blocks);
      if (call.peephole) {
        T* tile_sums = sums + tile * 3 * kColumns;
        std::fill_n(tile_sums, 3 * kColumns, T(0));
        backward_tile<true>(call, rows, columns, tile_sums);
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
      const Block columns = columns_of(column_block);
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

void lstm_block_cell_grad(const LstmBlockCellGradCall<float>& call, Workspace& workspace) {
  cell_grad(call, workspace);
}
void lstm_block_cell_grad(const LstmBlockCellGradCall<Half>& call, Workspace& workspace) { cell_grad(call, workspace); }

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {

template <class S>
void lstm_block_cell_grad(const LstmBlockCellGradCall<S>& call, Workspace& workspace) {
  BACKGAUGE_ON_PATH(lstm_block_cell_grad(call, workspace));
}

template void lstm_block_cell_grad(const LstmBlockCellGradCall<Half>&, Workspace&);
template void lstm_block_cell_grad(const LstmBlockCellGradCall<float>&, Workspace&);

}  // namespace backgauge::cpu
#endif
