// SPDX-License-Identifier: Apache-2.0
// A recurrence, backwards, as one kernel. A cluster has a few rows of the batch, which no other cluster needs, and all
// of the recurrent weights, spread over its blocks: a block has those of the gates of its hidden units. In each step it
//   1. adds up what all blocks have computed of dh for its units, computes their gate gradients, and
//   2. multiplies these by its part of the weights: for all units of all blocks, a part of dh before the step, which it
//      stores in the memory of the block that has the unit.
// Parts are added in the order of the blocks. Two buffers of parts alternate, so that one barrier of the cluster in a
// step is enough.
#pragma once

#include "impl/cuda/clusters/sizes.h"
#include "impl/cuda/device/cluster.h"

namespace backgauge::cuda {

// A hidden unit of a row of the batch.
struct CellPlace {
  std::int64_t row, unit;
};

// Recurrence: what is computed, a struct that can be copied byte by byte. Steps are numbered from the first that is
// computed.
//   Storage, kGates, those that the recurrent product reads, and kSums, sums over rows and steps;
//   kBypasses: whether a part of dh goes from step to step without passing the gates;
//   weight(to, gate, from): how much the gradient of a gate of unit `from` adds to dh of unit `to`;
//   Values: what a thread keeps of a cell from step to step;
//   begin(values, place) returns dh after the first step;
//   fetch(values, place, step) reads what the step needs;
//   backward(values, place, step, dh, gates, sums) computes the gradients of the gates, stores them, adds to the sums,
//   and returns that part;
//   end(values, place, dh), after the last step.
//
// Weights: how the product is computed. For kRows rows at most it has
//   Kept: the part of the weights that a thread has in registers;
//   kMostUnits, of all blocks;
//   weight_bytes(sizes), gradient_bytes(sizes): of its two arrays in shared memory, multiples of 16;
//   load(warp, recurrence, sizes, weights);
//   put(gradients, sizes, row, unit of the block, gates);
//   multiply(warp, weights, gradients, sizes, to), which calls to(block of the unit, row * units + unit of that block,
//   value) for each row and unit of all blocks.
template <class Recurrence_, class Weights_>
struct ClusterKernel {
  using Recurrence = Recurrence_;
  using Weights = Weights_;
  static constexpr int kThreads = 256, kStepPhases = 2, kEndPhases = 2;
  // A cell is an element [row, unit] of a block; a thread has the cells `thread` and `thread + kThreads`.
  static constexpr int kCells = 2;
  static constexpr int kSums = Recurrence::kSums;

  struct Cell {
    int row;         // of the cluster; -1: not a cell of the batch
    float bypassed;  // of dh, if Recurrence::kBypasses
    float sums[kSums];
    typename Recurrence::Values values;
  };
  struct Local {
    Cell cells[kCells];
    typename Weights::Kept kept;
  };

  Recurrence recurrence;
  ClusterSizes sizes;
  float* sums;  // [clusters, kSums, H]

  BACKGAUGE_BOTH std::int64_t steps() const { return sizes.steps; }

  static std::int64_t shared_bytes(const ClusterSizes& sizes) {
    return Weights::weight_bytes(sizes) + Weights::gradient_bytes(sizes) +
           std::int64_t{2} * parts(sizes) * part_elements(sizes) * 4;
  }
  std::int64_t shared_bytes() const { return shared_bytes(sizes); }

  BACKGAUGE_BOTH void begin(const Warp<Local>& warp) const {
    auto* const gradients = reinterpret_cast<std::uint32_t*>(gradients_of(warp.block));
    const auto words = static_cast<int>(Weights::gradient_bytes(sizes) / 4);
    warp.each([&](const Lane& lane, Local&) {
      for (int k = lane.thread; k < words; k += kThreads) gradients[k] = 0;
    });
    each_cell(warp, [&](Cell& cell, int place) {
      cell.row = place / sizes.units;
      const CellPlace in_batch = place_in_batch(warp.block, cell, place);
      if (cell.row >= sizes.rows || in_batch.row >= sizes.B || in_batch.unit >= sizes.H) cell.row = -1;
      BACKGAUGE_UNROLL
      for (int sum = 0; sum < kSums; ++sum) cell.sums[sum] = 0;
      if (cell.row < 0) return;
      cell.bypassed = 0;
      const float dh = recurrence.begin(cell.values, in_batch);
      for (int rank = 0; rank < sizes.blocks; ++rank) part(warp.block, -1, rank)[place] = rank == 0 ? dh : 0;
      recurrence.fetch(cell.values, in_batch, 0);
    });
    Weights::load(warp, recurrence, sizes, warp.block.shared);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void step(const Warp<Local>& warp, std::int64_t number) const {
    if constexpr (kPhase == 0) {
      each_cell(warp, [&](Cell& cell, int place) {
        if (cell.row < 0) return;
        float gates[Recurrence::kGates];
        cell.bypassed = recurrence.backward(cell.values, place_in_batch(warp.block, cell, place), number,
                                            dh_before(warp.block, cell, place, number), gates, cell.sums);
        Weights::put(gradients_of(warp.block), sizes, cell.row, place - cell.row * sizes.units, gates);
      });
    } else {
      // The values of the next step are on their way while this one is multiplied.
      each_cell(warp, [&](Cell& cell, int place) {
        if (cell.row < 0 || number + 1 == sizes.steps) return;
        recurrence.fetch(cell.values, place_in_batch(warp.block, cell, place), number + 1);
      });
      float* const own = part(warp.block, number, warp.block.rank);
      Weights::multiply(warp, warp.block.shared, gradients_of(warp.block), sizes,
                        [&](int block, int place, float value) { warp.block.store_in(block, own + place, value); });
    }
  }

  template <int kPhase>
  BACKGAUGE_BOTH void end(const Warp<Local>& warp) const {
    // In the buffer that the last step has not used.
    float* const of_rows = part(warp.block, sizes.steps, 0);
    const int elements = part_elements(sizes);
    if constexpr (kPhase == 0) {
      each_cell(warp, [&](Cell& cell, int place) {
        if (place >= elements) return;
        BACKGAUGE_UNROLL
        for (int sum = 0; sum < kSums; ++sum) of_rows[sum * elements + place] = cell.sums[sum];
        if (cell.row < 0) return;
        recurrence.end(cell.values, place_in_batch(warp.block, cell, place),
                       dh_before(warp.block, cell, place, sizes.steps));
      });
    } else {
      const std::int64_t first = first_unit(warp.block);
      float* const to = sums + warp.block.cluster * kSums * sizes.H + first;
      warp.each([&](const Lane& lane, Local&) {
        for (int k = lane.thread; k < kSums * sizes.units; k += kThreads) {
          const int sum = k / sizes.units, unit = k % sizes.units;
          if (first + unit >= sizes.H) continue;
          float total = 0;
          for (int row = 0; row < sizes.rows; ++row) total += of_rows[sum * elements + row * sizes.units + unit];
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

  BACKGAUGE_BOTH std::int64_t first_unit(const ClusterBlock& block) const {
    return static_cast<std::int64_t>(block.rank) * sizes.units;
  }
  // Computed again and again, because registers are few.
  BACKGAUGE_BOTH CellPlace place_in_batch(const ClusterBlock& block, const Cell& cell, int place) const {
    return {block.cluster * sizes.rows + cell.row, first_unit(block) + place - cell.row * sizes.units};
  }

  // In a buffer: of the blocks; at the end, sums.
  static BACKGAUGE_BOTH int parts(const ClusterSizes& sizes) { return sizes.blocks > kSums ? sizes.blocks : kSums; }
  // The size of a part of dh, [rows, units of a block].
  static BACKGAUGE_BOTH int part_elements(const ClusterSizes& sizes) { return sizes.rows * sizes.units; }

  BACKGAUGE_BOTH std::byte* gradients_of(const ClusterBlock& block) const {
    return block.shared + Weights::weight_bytes(sizes);
  }

  // What the block of this rank has computed in a step of dh for the units of this one. Step -1 gives what the first
  // one reads.
  BACKGAUGE_BOTH float* part(const ClusterBlock& block, std::int64_t step, int rank) const {
    auto* const first = reinterpret_cast<float*>(gradients_of(block) + Weights::gradient_bytes(sizes));
    return first + (static_cast<int>(step & 1) * parts(sizes) + rank) * part_elements(sizes);
  }

  BACKGAUGE_BOTH float dh_before(const ClusterBlock& block, const Cell& cell, int place, std::int64_t step) const {
    const float* const first = part(block, step - 1, 0) + place;
    const int elements = part_elements(sizes);
    float dh = Recurrence::kBypasses ? cell.bypassed : 0;
    for (int rank = 0; rank < sizes.blocks; ++rank) dh += first[rank * elements];
    return dh;
  }
};

}  // namespace backgauge::cuda
