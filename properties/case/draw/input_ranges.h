// SPDX-License-Identifier: Apache-2.0
// Ranges of generated inputs that suit the range and the precision of each dtype: one row per dtype.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "reference/contract/dtypes.h"

namespace backgauge {

struct InputRange {
  backgauge_dtype dtype;
  // Scales of a tiny upstream gradient: very small, near the smallest normal number, below it.
  double tiny[3];
  // Scale of a huge upstream gradient, whose sums stay finite. In half the range is so small that the scale must shrink
  // with the square root of the number of terms, as their sum grows.
  double huge;
  bool huge_shrinks;
  // Below the smallest normal number; in wide formats so small that products with values of order 1 are subnormal too.
  double subnormal;
  // How much larger than the others one value may be without overflow of sums.
  double outlying;
  // Scales of batch rows are 2^-row_octaves .. 2^row_octaves.
  int row_octaves;
  // Large states are 10 to 20 times a power of two below 2^state_octaves. 10 * 2^9 * 1.95 < 1e4; in half the gradient
  // of a peephole contains the square of a state, and 80^2 / 4 leaves a factor of 40 below 65504 for the sum.
  int state_octaves;
  // Finite, and large enough to make any sum that it enters wrong. A value of the dtype.
  double poison;
  // Sparse data: about how many terms a sum of products with weights has, and from how many steps and rows a sum over
  // steps and rows has terms that are not 0. Where every operation is rounded to the dtype, the resolution must be 4
  // (judge/compare/compare.cc). In half, with 32 steps of one row it was 1 to 6 at 64 steps of 128 rows and 1024
  // steps of 2. n terms lose up to n^1.5 u of their sum, so that bfloat16, with 8 times the u, gets a fourth of them.
  std::int64_t sparse_terms, sparse_steps, sparse_rows;
};

// A part of float32's range for float64 too: states of 1e4 are large in any dtype.
inline constexpr InputRange kInputRanges[] = {
    {BACKGAUGE_HALF, {1e-3, 1e-4, 1e-6}, 3e4, true, 0x1p-20, 32, 6, 3, 6e4, 32, 4, 2},
    {BACKGAUGE_FLOAT32,
     {1e-30, 1e-38, 1e-42},
     1e30,
     false,
     0x1p-135,
     1024,
     20,
     10,
     static_cast<double>(1e30f),
     32,
     4,
     2},
    {BACKGAUGE_FLOAT64,
     {1e-280, 1e-307, 1e-315},
     1e300,
     false,
     0x1p-1050,
     1024,
     20,
     10,
     static_cast<double>(1e30f),
     32,
     4,
     2},
    {BACKGAUGE_BFLOAT16, {1e-30, 1e-38, 1e-39}, 1e30, false, 0x1p-130, 1024, 20, 10, 0x1.94p99, 8, 2, 1},
};

constexpr const InputRange& input_range(backgauge_dtype dtype) {
  for (const InputRange& range : kInputRanges) {
    if (range.dtype == dtype) return range;
  }
  throw std::logic_error("no range of inputs for this dtype");
}

}  // namespace backgauge
