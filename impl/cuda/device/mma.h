// SPDX-License-Identifier: Apache-2.0
// A product on the tensor cores by the 32 lanes of a warp: d[16, 8] += a[16, 16] b[16, 8], half operands, float sums.
// The positions of elements are those of the PTX instruction mma.m16n8k16; two adjacent halves are in each register.
#pragma once

#include "impl/cuda/device/cluster.h"

namespace backgauge::cuda {

struct alignas(kVectorBytes) MmaA {
  std::uint32_t of[4];
};
struct MmaB {
  std::uint32_t of[2];
};
struct MmaD {
  float of[4];
};

inline constexpr int kMmaRows = 16, kMmaColumns = 8, kMmaDepth = 16;

// Where register k of a lane has its first element; the second one is in the next column of a, or the next row of b.
BACKGAUGE_BOTH int mma_a_row(int lane, int k) { return lane / 4 + k % 2 * 8; }
BACKGAUGE_BOTH int mma_a_column(int lane, int k) { return lane % 4 * 2 + k / 2 * 8; }
BACKGAUGE_BOTH int mma_b_row(int lane, int k) { return lane % 4 * 2 + k * 8; }
BACKGAUGE_BOTH int mma_b_column(int lane) { return lane / 4; }
BACKGAUGE_BOTH int mma_d_row(int lane, int k) { return lane / 4 + k / 2 * 8; }
BACKGAUGE_BOTH int mma_d_column(int lane, int k) { return lane % 4 * 2 + k % 2; }

BACKGAUGE_BOTH std::uint32_t pair_of(Half first, Half second) {
  return static_cast<std::uint32_t>(first.bits) | static_cast<std::uint32_t>(second.bits) << 16;
}

// To be called by all lanes of a warp.
BACKGAUGE_BOTH void multiply_fragments(const OfLanes<MmaA>& a, const OfLanes<MmaB>& b, OfLanes<MmaD>& d) {
#ifdef __CUDA_ARCH__
  const MmaA& x = a.at[0];
  const MmaB& y = b.at[0];
  MmaD& sum = d.at[0];
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum.of[0]), "+f"(sum.of[1]), "+f"(sum.of[2]), "+f"(sum.of[3])
      : "r"(x.of[0]), "r"(x.of[1]), "r"(x.of[2]), "r"(x.of[3]), "r"(y.of[0]), "r"(y.of[1]));
#else
  const auto half_of = [](std::uint32_t pair, int second) {
    Half half;
    half.bits = static_cast<std::uint16_t>(pair >> (16 * second));
    return wide(half);
  };
  float rows[kMmaRows][kMmaDepth], columns[kMmaDepth][kMmaColumns];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int second = 0; second < 2; ++second) {
      for (int k = 0; k < 4; ++k) {
        rows[mma_a_row(lane, k)][mma_a_column(lane, k) + second] = half_of(a.at[lane].of[k], second);
      }
      for (int k = 0; k < 2; ++k) {
        columns[mma_b_row(lane, k) + second][mma_b_column(lane)] = half_of(b.at[lane].of[k], second);
      }
    }
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int k = 0; k < 4; ++k) {
      float& sum = d.at[lane].of[k];
      for (int depth = 0; depth < kMmaDepth; ++depth) {
        sum += rows[mma_d_row(lane, k)][depth] * columns[depth][mma_d_column(lane, k)];
      }
    }
  }
#endif
}

}  // namespace backgauge::cuda
