// SPDX-License-Identifier: Apache-2.0
// Products of float matrices in AMX tiles. Every operand is the sum of three bfloat16, its pieces; of the nine products
// of pieces the six largest are summed. The resulting accuracy: impl/cpu/amx/amx.md.
//   left operand   [block of 16 rows]   [chunk of 32 deep] [piece] [16 rows][32 deep]
//   right operand  [block of 16 columns][chunk of 32 deep] [piece] [16 pairs of depth][16 columns][2]
// Partial blocks and chunks are padded with zeros.
#pragma once

#include <cstdint>

#include "impl/cpu/kernels/prefetch_queue.h"

namespace backgauge::cpu::amx {

inline constexpr std::int64_t kSide = 16, kDeep = 32;     // of a tile; float sums are kSide by kSide
inline constexpr std::int64_t kTile = kSide * kDeep;      // elements of a tile of pieces
inline constexpr std::int64_t kChunk = 3 * kTile;         // of a chunk of a block, the highest piece first
inline constexpr std::int64_t kSums = 2 * kSide * kSide;  // of a block of results: main sum and rest
inline constexpr std::int64_t kAsks = 5;                  // calls of PrefetchQueue::ask() in each chunk of a product

// Blocks of results: `rows` of the left operand times `columns` of the right one, at most 2 by 2 or 1 by 4.
struct BlockProduct {
  const std::uint16_t *left, *right;       // the first chunk of the first block
  std::int64_t left_stride, right_stride;  // from block to block
  std::int64_t rows, columns;
  std::int64_t chunks;
  float* sums;  // [rows][columns][kSums]
  bool add;     // to the previous contents
  // [queue, queue_end): what is read after this product, and prefetched into L2 meanwhile.
  PrefetchQueue *queue = nullptr, *queue_end = nullptr;
};

}  // namespace backgauge::cpu::amx
