// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad in one pass over memory. Tiles of rows and columns are independent of each other; with peepholes
// each leaves its part of the sums over the batch in the workspace, and they are added in the order of the rows. So no
// output is written before everything that it may share memory with has been read.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/ops/lstm_block_cell_grad.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <algorithm>
#include <cstring>

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/machine/caches.h"
#include "impl/cpu/ops/lstm-inl.h"
#include "impl/cpu/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// A tile: full rows where possible, so that every tensor is read and written sequentially. Computing 32 rows of 512
// columns takes as long as starting a thread.
inline constexpr std::int64_t kRows = 32, kColumns = 4096;
inline constexpr double kElementsPerThread = 32 * 512;
// Columns that are computed in L1 before they are written with non-temporal stores. Time at (512, 4096) on Zen 3,
// relative to ordinary stores: 128 columns 0.76, 256 columns 0.89, 64 columns 1.1, single lines of each output in turn
// 2.5. Slower if the data fits into the caches.
inline constexpr std::int64_t kPiece = 128;

// How gradients are written: ordinary stores; non-temporal stores by pieces; non-temporal stores of each vector, if it
// is a full line. The last at (512, 4096) on Zen 5 with AVX-512, relative to pieces: 0.87, with peepholes 0.85.
enum class Writes { kCached, kPieces, kLines };

// The addresses of a row of gradients; gates are `stride` apart.
template <class S>
struct RowOutput {
  S *cs_prev_grad, *gates;
  std::int64_t stride;
};

// Peepholes of a vector of columns: wci, wcf, wco, and the sums over rows of di * cs_prev, df * cs_prev, do * cs.
// Stored together, they are one stream of memory in addition to the 14 of the tensors, which is faster than six
// streams: on Zen 3, (128, 1024) took 1.70 times as long as without peepholes with six, and 1.38 times with one; (32,
// 512) 1.39 and 1.32. Two rows at a time would load and store the sums half as often, but add streams: that was slower.
template <class T>
struct Peepholes {
  enum { kWci, kWcf, kWco, kWciGrad, kWcfGrad, kWcoGrad, kCount };
  T lanes[kCount][kLanes<T>];
};

// One vector of columns from `k` on, and from `j` on of the outputs.
template <bool kPeephole, bool kPart, bool kLines, class S, class T>
HWY_INLINE void backward_lanes(const LstmBlockCellGradCall<S>& c, std::int64_t k, std::int64_t live,
                               const RowOutput<S>& to, std::int64_t j, Peepholes<T>* peepholes) {
  const Tag<T> d;
  const auto get = [=](const S* from) HWY_ATTR { return load_live<kPart>(d, from, live); };
  const auto put = [=](Vector<T> value, S* out) HWY_ATTR {
    if constexpr (kLines) {
      hn::Stream(value, d, out);
    } else {
      store_live<kPart>(d, value, out, live);
    }
  };
  const auto weight = [=](int which) HWY_ATTR { return kPeephole ? load(d, peepholes->lanes[which]) : hn::Zero(d); };
  using P = Peepholes<T>;
  const Vector<T> cs_prev = get(c.cs_prev + k);
  const LstmGradients<Vector<T>> g = lstm_gradients<kPeephole>(
      cs_prev, get(c.i + k), get(c.f + k), get(c.o + k), get(c.ci + k), get(c.co + k), get(c.cs_grad + k),
      get(c.h_grad + k), weight(P::kWci), weight(P::kWcf), weight(P::kWco));
  if constexpr (kPeephole) {
    const auto add = [=](Vector<T> gate, Vector<T> state, int which) HWY_ATTR {
      T* sum = peepholes->lanes[which];
      store(d, hn::MulAdd(gate, state, load(d, sum)), sum);
    };
    add(g.i, cs_prev, P::kWciGrad);
    add(g.f, cs_prev, P::kWcfGrad);
    add(g.o, get(c.cs + k), P::kWcoGrad);
  }
  put(g.cs_prev, to.cs_prev_grad + j);
  put(g.i, to.gates + j);
  put(g.ci, to.gates + to.stride + j);
  put(g.f, to.gates + 2 * to.stride + j);
  put(g.o, to.gates + 3 * to.stride + j);
}

template <bool kPeephole, bool kLines, class S, class T>
HWY_INLINE void backward_columns(const LstmBlockCellGradCall<S>& c, std::int64_t row, const Block& columns,
                                 const RowOutput<S>& to, Peepholes<T>* peepholes) {
  constexpr std::int64_t L = kLanes<T>;
  const std::int64_t first = row * c.H + columns.begin, whole = columns.size / L * L;
  for (std::int64_t j = 0; j < whole; j += L) {
    backward_lanes<kPeephole, false, kLines>(c, first + j, L, to, j, peepholes + j / L);
  }
  if (whole < columns.size) {
    backward_lanes<kPeephole, true, false>(c, first + whole, columns.size - whole, to, whole, peepholes + whole / L);
  }
}

// Copies with non-temporal stores, except for partial lines at both ends.
inline void stream(const void* from, std::int64_t bytes, void* to) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#else
  const hn::ScalableTag<std::uint8_t> d;
  constexpr std::int64_t kLine = 64, kBytes = static_cast<std::int64_t>(hn::MaxLanes(d));
  const auto* in = static_cast<const std::uint8_t*>(from);
  auto* out = static_cast<std::uint8_t*>(to);
  const std::int64_t head =
      std::min(bytes, -static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out)) & (kLine - 1));
  const std::int64_t end = head + (bytes - head) / kLine * kLine;
  std::memcpy(out, in, static_cast<std::size_t>(head));
  for (std::int64_t k = head; k < end; k += kBytes) hn::Stream(hn::LoadU(d, in + k), d, out + k);
  std::memcpy(out + end, in + end, static_cast<std::size_t>(bytes - end));
#endif
}

// Whether vectors of the outputs are full cache lines.
template <class S>
bool in_lines(const LstmBlockCellGradCall<S>& c) {
  constexpr std::int64_t kLine = 64;
  using T = Compute<S>;
  if (!std::is_same_v<S, T> || kLanes<T> * static_cast<std::int64_t>(sizeof(T)) != kLine || c.H % kLanes<T> != 0) {
    return false;
  }
  return reinterpret_cast<std::uintptr_t>(c.cs_prev_grad) % kLine == 0 &&
         reinterpret_cast<std::uintptr_t>(c.dicfo) % kLine == 0;
}

template <bool kPeephole, Writes kWrites, class S, class T>
void backward_tile(const LstmBlockCellGradCall<S>& call, const Block& rows, const Block& columns,
                   Peepholes<T>* peepholes) {
  const LstmBlockCellGradCall<S> c = call;  // a local copy: stores to the outputs cannot change these pointers
  HWY_ALIGN S piece[kWrites == Writes::kPieces ? 5 * kPiece : 1];
  for (std::int64_t row = rows.begin; row < rows.end(); ++row) {
    const RowOutput<S> out{c.cs_prev_grad + row * c.H, c.dicfo + row * 4 * c.H, c.H};
    if constexpr (kWrites == Writes::kPieces) {
      const RowOutput<S> local{piece + 4 * kPiece, piece, kPiece};
      for (std::int64_t j = columns.begin; j < columns.end(); j += kPiece) {
        const Block part{j, std::min(kPiece, columns.end() - j)};
        const std::int64_t bytes = part.size * static_cast<std::int64_t>(sizeof(S));
        backward_columns<kPeephole, false>(c, row, part, local, peepholes + (j - columns.begin) / kLanes<T>);
        for (std::int64_t gate = 0; gate < 4; ++gate) stream(piece + gate * kPiece, bytes, out.gates + gate * c.H + j);
        stream(local.cs_prev_grad, bytes, out.cs_prev_grad + j);
      }
    } else {
      const RowOutput<S> here{out.cs_prev_grad + columns.begin, out.gates + columns.begin, c.H};
      backward_columns<kPeephole, kWrites == Writes::kLines>(c, row, columns, here, peepholes);
    }
  }
  if constexpr (kWrites != Writes::kCached) hwy::FlushStream();
}

template <bool kPeephole, class S, class T>
void backward_tile(const LstmBlockCellGradCall<S>& call, Writes writes, const Block& rows, const Block& columns,
                   Peepholes<T>* peepholes) {
  if constexpr (std::is_same_v<S, T>) {
    if (writes == Writes::kLines) return backward_tile<kPeephole, Writes::kLines>(call, rows, columns, peepholes);
  }
  if (writes == Writes::kPieces) {
    backward_tile<kPeephole, Writes::kPieces>(call, rows, columns, peepholes);
  } else {
    backward_tile<kPeephole, Writes::kCached>(call, rows, columns, peepholes);
  }
}

// Loads the weights of these columns, and sets the sums to 0.
template <class S, class T>
void begin(const LstmBlockCellGradCall<S>& call, const Block& columns, Peepholes<T>* peepholes) {
  constexpr std::int64_t L = kLanes<T>;
  const Tag<T> d;
  const S* const weights[] = {call.wci, call.wcf, call.wco};
  for (std::int64_t j = 0; j < columns.size; j += L, ++peepholes) {
    const std::int64_t live = std::min(L, columns.size - j);
    for (int which = 0; which < 3; ++which) {
      const S* weight = weights[which] + columns.begin + j;
      store(d, live == L ? load(d, weight) : load_part(d, weight, live), peepholes->lanes[which]);
      store(d, hn::Zero(d), peepholes->lanes[which + Peepholes<T>::kWciGrad]);
    }
  }
}

// Adds the partial sums of the `tiles` of a block of columns, in the order of their rows; they are `stride` apart.
template <class S, class T>
void finish(const Peepholes<T>* peepholes, std::int64_t tiles, std::int64_t stride, int which, std::int64_t count,
            S* to) {
  constexpr std::int64_t L = kLanes<T>;
  const Tag<T> d;
  for (std::int64_t j = 0; j < count; j += L, ++peepholes) {
    Vector<T> sum = hn::Zero(d);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      sum = hn::Add(sum, load(d, peepholes[tile * stride].lanes[which]));
    }
    if (count - j < L) {
      store_part(d, sum, to + j, count - j);
    } else {
      store(d, sum, to + j);
    }
  }
}

// Whether the call reads and writes more than fits into the caches: 8 tensors in, 5 out.
template <class S>
bool is_beyond_caches(const LstmBlockCellGradCall<S>& call) {
  return 13.0 * sizeof(S) * static_cast<double>(call.B) * static_cast<double>(call.H) >
         static_cast<double>(last_level_cache());
}

template <class S>
void lstm_block_cell_grad(const LstmBlockCellGradCall<S>& call, Workspace& workspace) {
  using T = Compute<S>;
  constexpr std::int64_t kVectorsOfTile = kColumns / kLanes<T>;
  const std::int64_t H = call.H, row_blocks = blocks(call.B, kRows), column_blocks = blocks(H, kColumns);
  auto* peepholes = call.peephole ? workspace.take<Peepholes<T>>({row_blocks, column_blocks, kVectorsOfTile}) : nullptr;
  if (workspace.counts_only()) return;
  const auto columns_of = [=](std::int64_t index) {
    return Block{index * kColumns, std::min(kColumns, H - index * kColumns)};
  };
  const Writes writes = !is_beyond_caches(call) ? Writes::kCached : in_lines(call) ? Writes::kLines : Writes::kPieces;
  const double elements = static_cast<double>(call.B) * static_cast<double>(H);
  run_team(team_size(call.num_threads, elements, kElementsPerThread), [&](Member& member) HWY_ATTR {
    const Range tiles = member.share(row_blocks * column_blocks);
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const Block rows = block(call.B, row_blocks, tile / column_blocks);
      const Block columns = columns_of(tile % column_blocks);
      if (call.peephole) {
        Peepholes<T>* of_tile = peepholes + tile * kVectorsOfTile;
        begin(call, columns, of_tile);
        backward_tile<true>(call, writes, rows, columns, of_tile);
      } else {
        backward_tile<false, S, T>(call, writes, rows, columns, nullptr);
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
      finish(peepholes + column_block * kVectorsOfTile, row_blocks, column_blocks * kVectorsOfTile,
             static_cast<int>(which) + Peepholes<T>::kWciGrad, columns.size, outputs[which] + columns.begin);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
BACKGAUGE_OP_ON_PATH(lstm_block_cell_grad, LstmBlockCellGradCall)
}  // namespace backgauge::cpu
#endif
