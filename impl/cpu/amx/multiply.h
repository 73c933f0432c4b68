// SPDX-License-Identifier: Apache-2.0
// Products of float matrices in AMX tiles, or in emulated ones.
#pragma once

#include <cstdint>

#include "impl/cpu/amx/block_product.h"
#include "impl/cpu/machine/path.h"

namespace backgauge::cpu::amx {

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
