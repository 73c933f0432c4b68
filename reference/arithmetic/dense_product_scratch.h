// SPDX-License-Identifier: Apache-2.0
// What a blocked product of matrices needs beside its matrices: room for the parts that it has copied into the order in
// which they are read.
#pragma once

#include <cstddef>

#include "reference/arithmetic/dense_product.h"

namespace backgauge {

// Terms of a block: two panels of so many rows, of x and of y, stay in a first cache of 32 KiB.
inline constexpr std::ptrdiff_t kBlockTerms = 256;
// Rows of x that are copied at once: with so many terms 96 KiB of float, 192 of double, for a second cache.
inline constexpr std::ptrdiff_t kBlockRows = 96;
// Of any instruction set: tiles at the edge are filled up with zeros.
inline constexpr std::ptrdiff_t kMostTileRows = 12, kMostTileColumns = 32;

template <class V>
struct ProductScratch {
  V* x;  // (kBlockRows + kMostTileRows) * min(kBlockTerms, inner)
  V* y;  // (cols + kMostTileColumns) * min(kBlockTerms, inner)
};

}  // namespace backgauge
