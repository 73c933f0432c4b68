// SPDX-License-Identifier: Apache-2.0
// The serial part of BlockLSTMGradV2 as one kernel. A cluster has a few rows of the batch, which no other cluster
// needs, and all of W_h, spread over its blocks: a block has the columns of the four gates of its hidden units. In each
// step it
//   1. adds up what all blocks have computed of dh for its units, computes their gate gradients, and
//   2. multiplies these by its part of W_h: for all units of all blocks, a part of dh before the step, which it stores
//   in
//      the memory of the block that has the unit.
// Parts are added in the order of the blocks. Two buffers of parts alternate, so that one barrier of the cluster in a
// step is enough.
#pragma once

#include "impl/cuda/device/cluster.h"
#include "impl/cuda/lstm_cell.h"
#include "impl/cuda/operand.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

// [T, B, H] each unless noted; S steps are done.
template <class Storage>
struct ClusterTensors {
  const Storage *cs_prev, *cs, *i, *f, *o, *ci, *co, *cs_grad, *h_grad;  // cs_prev: [B, H]
  const Storage *wci, *wcf, *wco;                                        // [H], with peepholes
  const Storage* w_h;                                                    // [H, 4H], gates i, f, c, o
  Operand<Storage> dgates;                                               // [S, B, 4H]
  Storage *h_prev_grad, *cs_prev_grad;                                   // [B, H]
  Compute<Storage>* sums;                                                // [clusters, cell_sums(), H]
};

struct ClusterSizes {
  std::int64_t S, B, H;
  int blocks, rows;     // of a cluster
  int units;            // hidden units of a block; the last blocks may have less or none
  unsigned reciprocal;  // of `units`, in units of 2^-20

  // granule: `units` is a multiple of it.
  ClusterSizes(const Extents& e, int blocks_of_each, int rows_of_each, int granule)
      : S(e.S),
        B(e.B),
        H(e.H),
        blocks(blocks_of_each),
        rows(rows_of_each),
        units(granule * static_cast<int>(blocks_for(e.H, std::int64_t{blocks_of_each} * granule))),
        reciprocal((1u << kReciprocalBits) / static_cast<unsigned>(units) + 1) {}

  // unit / units. The reciprocal is too large by at most 1, the quotient by at most unit * 2^-20: less than 1 / units,
  // by which a quotient may exceed its whole number at most without reaching the next.
  BACKGAUGE_BOTH int block_of(int unit) const {
    return static_cast<int>(static_cast<unsigned>(unit) * reciprocal >> kReciprocalBits);
  }

 private:
  static constexpr int kReciprocalBits = 20;
};

// Weights: how the product is computed. For kRows rows at most it has
//   Storage, and Kept, the part of W_h that a thread has in registers;
//   kMostUnits, of all blocks; kGranule, of the units of a block;
//   weight_bytes(sizes), gradient_bytes(sizes): of its two arrays in shared memory, multiples of 16;
//   load(warp, w_h, sizes, weights);
//   put(gradients, sizes, row, unit of the block, gates[4]);
//   multiply(warp, weights, gradients, sizes, to), which calls to(block of the unit, row * units + unit of that block,
//   value) for each row and unit of all blocks.
template <class Weights_, bool kPeephole>
struct LstmClusterKernel {
  using Weights = Weights_;
  using Storage = typename Weights::Storage;
  static constexpr int kThreads = 256, kStepPhases = 2, kEndPhases = 2;
  // A cell is an element [row, unit] of a block; a thread has the cells `thread` and `thread + kThreads`.
  static constexpr int kCells = 2;
  static constexpr int kSums = cell_sums(true, kPeephole);

  struct Cell {
    int row;  // of the cluster; -1: not a cell of the batch
    float cs_prev, cs, i, f, o, ci, co, cs_grad, h_grad;
    PeepholeWeights<float> weights;
    float dcs, sums[kSums];
  };
  struct Local {
    Cell cells[kCells];
    typename Weights::Kept kept;
  };

  ClusterTensors<Storage> t;
  ClusterSizes sizes;

  BACKGAUGE_BOTH std::int64_t steps() const { return sizes.S; }

  std::int64_t shared_bytes() const {
    return Weights::weight_bytes(sizes) + Weights::gradient_bytes(sizes) +
           std::int64_t{2} * parts() * part_elements() * 4;
  }

  BACKGAUGE_BOTH void begin(const Warp<Local>& warp) const {
    auto* const gradients = reinterpret_cast<std::uint32_t*>(gradients_of(warp.block));
    const auto words = static_cast<int>(Weights::gradient_bytes(sizes) / 4);
    warp.each([&](const Lane& lane, Local&) {
      for (int k = lane.thread; k < words; k += kThreads) gradients[k] = 0;
    });
    each_cell(warp, [&](Cell& cell, int place) {
      const int row = place / sizes.units;
      const std::int64_t unit = first_unit(warp.block) + place % sizes.units;
      cell.row = row < sizes.rows && first_row(warp.block) + row < sizes.B && unit < sizes.H ? row : -1;
      cell.dcs = 0;
      BACKGAUGE_UNROLL
      for (int sum = 0; sum < kSums; ++sum) cell.sums[sum] = 0;
      if (cell.row < 0) return;
      if constexpr (kPeephole) cell.weights = {wide(t.wci[unit]), wide(t.wcf[unit]), wide(t.wco[unit])};
      fetch(warp.block, cell, place, sizes.S - 1);
    });
    Weights::load(warp, t.w_h, sizes, warp.block.shared);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void step(const Warp<Local>& warp, std::int64_t number) const {
    const std::int64_t time = sizes.S - 1 - number;
    if constexpr (kPhase == 0) {
      each_cell(warp, [&](Cell& cell, int place) {
        if (cell.row < 0) return;
        backward(warp.block, cell, place, time, number == 0 ? 0 : dh_of(warp.block, place, number - 1));
      });
    } else {
      // The values of the next step are on their way while this one is multiplied.
      each_cell(warp, [&](Cell& cell, int place) {
        if (cell.row >= 0 && time > 0) fetch(warp.block, cell, place, time - 1);
      });
      float* const own = part(warp.block, number, warp.block.rank);
      Weights::multiply(warp, warp.block.shared, gradients_of(warp.block), sizes,
                        [&](int block, int place, float value) { warp.block.store_in(block, own + place, value); });
    }
  }

  template <int kPhase>
  BACKGAUGE_BOTH void end(const Warp<Local>& warp) const {
    // In the buffer that the last step has not used.
    float* const sums = part(warp.block, sizes.S, 0);
    const int elements = part_elements();
    if constexpr (kPhase == 0) {
      each_cell(warp, [&](const Cell& cell, int place) {
        if (place >= elements) return;
        BACKGAUGE_UNROLL
        for (int sum = 0; sum < kSums; ++sum) sums[sum * elements + place] = cell.sums[sum];
        if (cell.row < 0) return;
        const std::int64_t at = place_in_batch(warp.block, cell, place, sizes.H);
        t.h_prev_grad[at] = narrow<Storage>(dh_of(warp.block, place, sizes.S - 1));
        t.cs_prev_grad[at] = narrow<Storage>(cell.dcs);
      });
    } else {
      const std::int64_t first = first_unit(warp.block);
      float* const to = t.sums + warp.block.cluster * kSums * sizes.H + first;
      warp.each([&](const Lane& lane, Local&) {
        for (int k = lane.thread; k < kSums * sizes.units; k += kThreads) {
          const int sum = k / sizes.units, unit = k % sizes.units;
          if (first + unit >= sizes.H) continue;
          float total = 0;
          for (int row = 0; row < sizes.rows; ++row) total += sums[sum * elements + row * sizes.units + unit];
          to[sum * sizes.H + unit] = total;
        }
      });
    }
  }

 private:
  // Calls body(Cell&, place), where the place is row * units + unit.
  template <class Body>
  static BACKGAUGE_BOTH void each_cell(const Warp<Local>& warp, const Body& body) {
    warp.each([&](const Lane& lane, Local& local) {
      BACKGAUGE_UNROLL
      for (int k = 0; k < kCells; ++k) body(local.cells[k], lane.thread + k * kThreads);
    });
  }

  BACKGAUGE_BOTH std::int64_t first_row(const ClusterBlock& block) const { return block.cluster * sizes.rows; }
  BACKGAUGE_BOTH std::int64_t first_unit(const ClusterBlock& block) const {
    return static_cast<std::int64_t>(block.rank) * sizes.units;
  }
  // In rows that are `stride` elements long. Computed again and again, because registers are few.
  BACKGAUGE_BOTH std::int64_t place_in_batch(const ClusterBlock& block, const Cell& cell, int place,
                                             std::int64_t stride) const {
    return (first_row(block) + cell.row) * stride + first_unit(block) + place - cell.row * sizes.units;
  }

  // In a buffer: of the blocks; at the end, sums.
  BACKGAUGE_BOTH int parts() const { return sizes.blocks > kSums ? sizes.blocks : kSums; }
  // Of a part of dh, [rows, units of a block].
  BACKGAUGE_BOTH int part_elements() const { return sizes.rows * sizes.units; }

  BACKGAUGE_BOTH std::byte* gradients_of(const ClusterBlock& block) const {
    return block.shared + Weights::weight_bytes(sizes);
  }

  // What the block of this rank has computed in a step of dh for the units of this one.
  BACKGAUGE_BOTH float* part(const ClusterBlock& block, std::int64_t step, int rank) const {
    auto* const first = reinterpret_cast<float*>(gradients_of(block) + Weights::gradient_bytes(sizes));
    return first + (static_cast<int>(step % 2) * parts() + rank) * part_elements();
  }

  BACKGAUGE_BOTH float dh_of(const ClusterBlock& block, int place, std::int64_t step) const {
    const float* const first = part(block, step, 0) + place;
    const int elements = part_elements();
    float dh = 0;
    for (int rank = 0; rank < sizes.blocks; ++rank) dh += first[rank * elements];
    return dh;
  }

  BACKGAUGE_BOTH void fetch(const ClusterBlock& block, Cell& cell, int place, std::int64_t time) const {
    const std::int64_t step = sizes.B * sizes.H, first = place_in_batch(block, cell, place, sizes.H);
    const std::int64_t at = time * step + first;
    cell.cs_prev = wide(time == 0 ? t.cs_prev[first] : t.cs[at - step]);
    if constexpr (kPeephole) cell.cs = wide(t.cs[at]);
    cell.i = wide(t.i[at]);
    cell.f = wide(t.f[at]);
    cell.o = wide(t.o[at]);
    cell.ci = wide(t.ci[at]);
    cell.co = wide(t.co[at]);
    cell.cs_grad = wide(t.cs_grad[at]);
    cell.h_grad = wide(t.h_grad[at]);
  }

  BACKGAUGE_BOTH void backward(const ClusterBlock& block, Cell& cell, int place, std::int64_t time, float dh) const {
    const CellGradients<float> d = cell_gradients<kPeephole, float>(
        {cell.cs_prev, cell.i, cell.f, cell.o, cell.ci, cell.co, cell.cs_grad + cell.dcs, cell.h_grad + dh},
        cell.weights);
    cell.dcs = d.cs_prev;
    float terms[kSums];
    cell_sum_terms<true, kPeephole>(d, cell.cs_prev, cell.cs, terms);
    BACKGAUGE_UNROLL
    for (int sum = 0; sum < kSums; ++sum) cell.sums[sum] += terms[sum];
    const float gates[4] = {d.i, d.f, d.ci, d.o};
    Weights::put(gradients_of(block), sizes, cell.row, place - cell.row * sizes.units, gates);
    const Operand<Storage> to =
        t.dgates + (time * sizes.B * 4 * sizes.H + place_in_batch(block, cell, place, 4 * sizes.H));
    BACKGAUGE_UNROLL
    for (int gate = 0; gate < 4; ++gate) {
      const float one[1] = {gates[gate]};
      store_operand(one, to + gate * sizes.H);
    }
  }
};

}  // namespace backgauge::cuda
