// SPDX-License-Identifier: Apache-2.0
// Recurrent weights on the chip, for ClusterKernel: the first depths of a block's product in registers, the others in
// shared memory. The depths are the gates of the hidden units of the block.
#pragma once

#include "impl/cuda/clusters/sizes.h"
#include "impl/cuda/device/mma.h"

namespace backgauge::cuda {

inline constexpr int kClusterWarps = 8;

// The recurrent weight of one gate and unit of this block; zero in the padding beyond the gates and units there are.
template <class Recurrence>
BACKGAUGE_BOTH typename Recurrence::Storage recurrent_weight(const Recurrence& recurrence, const ClusterSizes& sizes,
                                                             int rank, int to, int gate, int unit) {
  const std::int64_t from = static_cast<std::int64_t>(rank) * sizes.units + unit;
  if (to >= sizes.H || unit >= sizes.units || from >= sizes.H || gate >= Recurrence::kGates) return {};
  return recurrence.weight(to, gate, from);
}

// On tensor cores, for eight rows. A tile is 16 units of one block; warp w computes dh of the tiles w, w + 8, ... Depth
// `gate * units + unit`.
// kTiles: of a warp. kKept: products in depth for which its weights are in registers.
template <int kGates, int kTiles, int kKept>
struct HalfClusterWeights {
  static constexpr int kRows = kMmaColumns;
  static constexpr int kMostUnits = kTiles * kClusterWarps * kMmaRows;
  struct Kept {
    MmaA of[kTiles][kKept];
  };

  static BACKGAUGE_BOTH std::int64_t weight_bytes(const ClusterSizes& sizes) {
    const int shared = products(sizes) - kKept;
    return shared > 0 ? static_cast<std::int64_t>(sizeof(MmaA)) * kWarpLanes * tiles(sizes) * shared : 0;
  }

  // Halves from row to row: an odd multiple of 4 words, so that the fragments of a warp are in different banks.
  static BACKGAUGE_BOTH int stride(int units) { return kGates * units + 8; }
  static BACKGAUGE_BOTH std::int64_t gradient_bytes(const ClusterSizes& sizes) {
    return std::int64_t{2} * kRows * stride(sizes.units);
  }

  template <class Local, class Recurrence>
  static BACKGAUGE_BOTH void load(const Warp<Local>& warp, const Recurrence& recurrence, const ClusterSizes& sizes,
                                  std::byte* weights) {
    const int count = products(sizes);
    warp.each([&](const Lane& lane, Local& local) {
      BACKGAUGE_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        BACKGAUGE_UNROLL
        for (int k = 0; k < kKept; ++k) {
          if (k < count) local.kept.of[tile][k] = fragment(warp, recurrence, sizes, tile, k, lane.lane);
        }
        if (number_of(warp.index, tile) >= tiles(sizes)) continue;
        for (int k = kKept; k < count; ++k) {
          shared_fragment(weights, sizes, warp.index, tile, k, lane.lane) =
              fragment(warp, recurrence, sizes, tile, k, lane.lane);
        }
      }
    });
  }

  static BACKGAUGE_BOTH void put(std::byte* gradients, const ClusterSizes& sizes, int row, int unit,
                                 const float (&gates)[kGates]) {
    Half* const to = reinterpret_cast<Half*>(gradients) + row * stride(sizes.units) + unit;
    BACKGAUGE_UNROLL
    for (int gate = 0; gate < kGates; ++gate) to[gate * sizes.units] = narrow<Half>(gates[gate]);
  }

  template <class Local, class To>
  static BACKGAUGE_BOTH void multiply(const Warp<Local>& warp, std::byte* weights, const std::byte* gradients,
                                      const ClusterSizes& sizes, const To& to) {
    const int count = products(sizes);
    OfLanes<MmaD> sums[kTiles] = {};
    OfLanes<MmaA> a;
    BACKGAUGE_UNROLL
    for (int k = 0; k < kKept; ++k) {
      if (k >= count) break;
      const OfLanes<MmaB> b = gradient_fragments(warp, gradients, sizes, k);
      BACKGAUGE_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        warp.each([&](const Lane& lane, const Local& local) { a.at[lane.here] = local.kept.of[tile][k]; });
        multiply_fragments(a, b, sums[tile]);
      }
    }
    for (int k = kKept; k < count; ++k) {
      const OfLanes<MmaB> b = gradient_fragments(warp, gradients, sizes, k);
      BACKGAUGE_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        warp.each([&](const Lane& lane, const Local&) {
          a.at[lane.here] = shared_fragment(weights, sizes, warp.index, tile, k, lane.lane);
        });
        multiply_fragments(a, b, sums[tile]);
      }
    }
    warp.each([&](const Lane& lane, const Local&) {
      BACKGAUGE_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        const int first = number_of(warp.index, tile) * kMmaRows;
        if (first >= sizes.H) break;
        const int block = sizes.block_of(first), unit = first - block * sizes.units;
        BACKGAUGE_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int row = mma_d_column(lane.lane, k);
          if (row < sizes.rows) {
            to(block, row * sizes.units + unit + mma_d_row(lane.lane, k), sums[tile].at[lane.here].of[k]);
          }
        }
      }
    });
  }

 private:
  // In depth.
  static BACKGAUGE_BOTH int products(const ClusterSizes& sizes) { return kGates * sizes.units / kMmaDepth; }
  // Tiles of all warps.
  static BACKGAUGE_BOTH int tiles(const ClusterSizes& sizes) {
    return (static_cast<int>(sizes.H) + kMmaRows - 1) / kMmaRows;
  }
  static BACKGAUGE_BOTH int number_of(int warp, int tile) { return tile * kClusterWarps + warp; }

  // A tile that does not exist has the weights of the last one; what it gives is not used.
  static BACKGAUGE_BOTH MmaA& shared_fragment(std::byte* weights, const ClusterSizes& sizes, int warp, int tile, int k,
                                              int lane) {
    const int last = tiles(sizes) - 1, number = number_of(warp, tile);
    const int at = (number < last ? number : last) * (products(sizes) - kKept) + k - kKept;
    return reinterpret_cast<MmaA*>(weights)[at * kWarpLanes + lane];
  }

  template <class Local, class Recurrence>
  static BACKGAUGE_BOTH MmaA fragment(const Warp<Local>& warp, const Recurrence& recurrence, const ClusterSizes& sizes,
                                      int tile, int k, int lane) {
    const int of_gate = sizes.units / kMmaDepth, gate = k / of_gate;
    const int to = number_of(warp.index, tile) * kMmaRows, unit = k % of_gate * kMmaDepth;
    MmaA a;
    BACKGAUGE_UNROLL
    for (int n = 0; n < 4; ++n) {
      const auto half = [&](int second) {
        return recurrent_weight(recurrence, sizes, warp.block.rank, to + mma_a_row(lane, n), gate,
                                unit + mma_a_column(lane, n) + second);
      };
      a.of[n] = pair_of(half(0), half(1));
    }
    return a;
  }

  template <class Local>
  static BACKGAUGE_BOTH OfLanes<MmaB> gradient_fragments(const Warp<Local>& warp, const std::byte* gradients,
                                                         const ClusterSizes& sizes, int k) {
    OfLanes<MmaB> b;
    const auto* const pairs = reinterpret_cast<const std::uint32_t*>(gradients);
    warp.each([&](const Lane& lane, const Local&) {
      const int row = mma_b_column(lane.lane) * stride(sizes.units);
      BACKGAUGE_UNROLL
      for (int n = 0; n < 2; ++n) {
        b.at[lane.here].of[n] = pairs[(row + k * kMmaDepth + mma_b_row(lane.lane, n)) / 2];
      }
    });
    return b;
  }
};

// In float, for kRows rows: thread n computes dh of the units n, n + 256, ... Depth
// `kGates * unit + gate`.
template <int kGates, int kUnitsEach, int kRows_>
struct FloatClusterWeights {
  static constexpr int kRows = kRows_;
  static constexpr int kThreads = kClusterWarps * kWarpLanes;
  static constexpr int kMostUnits = kUnitsEach * kThreads;
  static constexpr int kKept = 48;  // depths
  // The depth of a block is a multiple of this.
  static constexpr int kStep = ClusterSizes::kGranule;
  struct Kept {
    float of[kKept][kUnitsEach];
  };

  static BACKGAUGE_BOTH std::int64_t weight_bytes(const ClusterSizes& sizes) {
    const std::int64_t shared = kGates * sizes.units - kKept;
    return shared > 0 ? shared * sizes.H * 4 : 0;
  }
  static BACKGAUGE_BOTH std::int64_t gradient_bytes(const ClusterSizes& sizes) {
    return std::int64_t{kGates} * sizes.units * kRows * 4;
  }

  template <class Local, class Recurrence>
  static BACKGAUGE_BOTH void load(const Warp<Local>& warp, const Recurrence& recurrence, const ClusterSizes& sizes,
                                  std::byte* weights) {
    const auto weight = [&](int to, int depth) {
      return recurrent_weight(recurrence, sizes, warp.block.rank, to, depth % kGates, depth / kGates);
    };
    warp.each([&](const Lane& lane, Local& local) {
      BACKGAUGE_UNROLL
      for (int n = 0; n < kUnitsEach; ++n) {
        const int to = lane.thread + n * kThreads;
        BACKGAUGE_UNROLL
        for (int depth = 0; depth < kKept; ++depth) local.kept.of[depth][n] = weight(to, depth);
        if (to >= sizes.H) continue;
        for (int depth = kKept; depth < kGates * sizes.units; ++depth) {
          reinterpret_cast<float*>(weights)[(depth - kKept) * sizes.H + to] = weight(to, depth);
        }
      }
    });
  }

  static BACKGAUGE_BOTH void put(std::byte* gradients, const ClusterSizes&, int row, int unit,
                                 const float (&gates)[kGates]) {
    float* const to = reinterpret_cast<float*>(gradients) + kGates * unit * kRows + row;
    BACKGAUGE_UNROLL
    for (int gate = 0; gate < kGates; ++gate) to[gate * kRows] = gates[gate];
  }

  template <class Local, class To>
  static BACKGAUGE_BOTH void multiply(const Warp<Local>& warp, const std::byte* weights, const std::byte* gradients,
                                      const ClusterSizes& sizes, const To& to) {
    const auto* const of_gates = reinterpret_cast<const float*>(gradients);
    const auto* const in_shared = reinterpret_cast<const float*>(weights);
    const int depths = kGates * sizes.units, columns = static_cast<int>(sizes.H);
    warp.each([&](const Lane& lane, const Local& local) {
      float sums[kUnitsEach][kRows] = {};
      BACKGAUGE_UNROLL
      for (int first = 0; first < kKept; first += kStep) {
        if (first >= depths) break;
        BACKGAUGE_UNROLL
        for (int depth = first; depth < first + kStep; ++depth) {
          add(local.kept.of[depth], of_gates + depth * kRows, sums);
        }
      }
      // A unit that does not exist has the weights of the last one; what it gives is not used.
      int column[kUnitsEach];
      BACKGAUGE_UNROLL
      for (int n = 0; n < kUnitsEach; ++n) {
        const int unit = lane.thread + n * kThreads;
        column[n] = unit < columns ? unit : columns - 1;
      }
      for (int depth = kKept; depth < depths; ++depth) {
        float w[kUnitsEach];
        BACKGAUGE_UNROLL
        for (int n = 0; n < kUnitsEach; ++n) w[n] = in_shared[(depth - kKept) * columns + column[n]];
        add(w, of_gates + depth * kRows, sums);
      }
      BACKGAUGE_UNROLL
      for (int n = 0; n < kUnitsEach; ++n) {
        const int unit = lane.thread + n * kThreads, block = sizes.block_of(unit);
        if (unit >= columns) break;
        BACKGAUGE_UNROLL
        for (int row = 0; row < kRows; ++row) {
          if (row < sizes.rows) to(block, row * sizes.units + unit - block * sizes.units, sums[n][row]);
        }
      }
    });
  }

 private:
  static BACKGAUGE_BOTH void add(const float (&w)[kUnitsEach], const float* gates, float (&sums)[kUnitsEach][kRows]) {
    float of_rows[kRows];
    load_each(gates, of_rows);
    BACKGAUGE_UNROLL
    for (int n = 0; n < kUnitsEach; ++n) {
      BACKGAUGE_UNROLL
      for (int row = 0; row < kRows; ++row) sums[n][row] = fused_multiply_add(w[n], of_rows[row], sums[n][row]);
    }
  }
};

}  // namespace backgauge::cuda
