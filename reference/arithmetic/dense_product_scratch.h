// SPDX-License-Identifier: Apache-2.0
// What a blocked product of matrices needs beside its matrices: room for the parts that it has copied into the order in
// which they are read.
#pragma once

#include <cstddef>

#include "reference/arithmetic/dense_product.h"

namespace backgauge {

// Terms of a block: two panels of so many rows, of x and of y, stay in a first cache of 32 KiB.
inline constexpr std::ptrdiff_t kBlockTerms = 256;
// Rows of x that are copied at once: with so many terms 768 KiB of float, read panel by panel for every tile of
// columns, while the panel of y that they meet stays where it has just been copied to. y is copied once for so many
// rows.
inline constexpr std::ptrdiff_t kBlockRows = 768;
// Of any instruction set: tiles at the edge are filled up with zeros.
inline constexpr std::ptrdiff_t kMostTileRows = 12, kMostTileColumns = 32;

template <class V>
struct ProductScratch {
  V* x;  // (min(kBlockRows, rows) + kMostTileRows) * min(kBlockTerms, inner)
  V* y;  // kMostTileColumns * min(kBlockTerms, inner)
};

}  // namespace backgauge
