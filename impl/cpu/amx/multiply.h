// SPDX-License-Identifier: Apache-2.0
// Products of float matrices in AMX tiles. Every operand is the sum of three bfloat16, its pieces; of the nine products
// of pieces the six largest are summed. The resulting accuracy: impl/cpu/amx.md.
//   left operand   [block of 16 rows]   [chunk of 32 deep] [piece] [16 rows][32 deep]
//   right operand  [block of 16 columns][chunk of 32 deep] [piece] [16 pairs of depth][16 columns][2]
// Partial blocks and chunks are padded with zeros.
#pragma once

#include <cstdint>
#include <string>

#include "impl/cpu/kernels/read_soon.h"
#include "impl/cpu/machine/path.h"

namespace backgauge::cpu::amx {

inline constexpr std::int64_t kSide = 16, kDeep = 32;     // of a tile; float sums are kSide by kSide
inline constexpr std::int64_t kTile = kSide * kDeep;      // elements of a tile of pieces
inline constexpr std::int64_t kChunk = 3 * kTile;         // of a chunk of a block, the highest piece first
inline constexpr std::int64_t kSums = 2 * kSide * kSide;  // of a block of results: main sum and rest
inline constexpr std::int64_t kAsks = 5;                  // calls of ReadSoon::ask() in each chunk of a product

// Blocks of results: `rows` of the left operand times `columns` of the right one, at most 2 by 2 or 1 by 4.
struct BlockProduct {
  const std::uint16_t *left, *right;       // the first chunk of the first block
  std::int64_t left_stride, right_stride;  // from block to block
  std::int64_t rows, columns;
  std::int64_t chunks;
  float* sums;  // [rows][columns][kSums]
  bool add;     // to the previous contents
  // [soon, soon_end): what is read after this product, and prefetched into L2 meanwhile.
  ReadSoon *soon = nullptr, *soon_end = nullptr;
};

// On AMX, the thread must have configured its tiles. The order of the additions to an element depends only on the
// depth.
void multiply(Products products, const BlockProduct& product);

// Computes one block with plain arithmetic in the order of the depth. Used for sums that are not finite, since tiles
// cannot distinguish an infinite piece from an infinite value. Writes the main sum.
void multiply_plainly(const std::uint16_t* left, const std::uint16_t* right, std::int64_t chunks, float* sum);

// Configures the tiles of this thread for its lifetime, if `products` are on AMX.
class ConfiguredTiles {
 public:
  explicit ConfiguredTiles(Products products);
  ~ConfiguredTiles();
  ConfiguredTiles(const ConfiguredTiles&) = delete;
  ConfiguredTiles& operator=(const ConfiguredTiles&) = delete;

 private:
  bool configured_;
};

// Whether tiles are expected to be faster than vectors for a product of these sizes. `streamed`: the right operand is
// read repeatedly, as in the steps of a recurrence, and has already been packed.
struct ProductSize {
  std::int64_t rows, columns, depth;
  bool streamed;
};
bool pays(Products products, const ProductSize& size);

}  // namespace backgauge::cpu::amx
