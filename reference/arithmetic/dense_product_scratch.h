// SPDX-License-Identifier: Apache-2.0
// Memory of a blocked product of matrices, for the parts of its operands that it copies into the order in which they
// are read.
#pragma once

#include <cstddef>

#include "reference/arithmetic/dense_product.h"

namespace backgauge {

// Number of terms in a block: two panels of so many rows, of x and of y, fit into an L1 cache of 32 KiB.
inline constexpr std::ptrdiff_t kBlockTerms = 256;
// Rows of x that are copied at once: with so many terms 768 KiB of float, read panel by panel for every tile of
// columns, while the panel of y that they meet stays where it has just been copied to. y is copied once for so many
// rows.
inline constexpr std::ptrdiff_t kBlockRows = 768;
// The largest of any instruction set; tiles at the edge are padded with zeros.
inline constexpr std::ptrdiff_t kMostTileRows = 12, kMostTileColumns = 32;

// The columns of a result that one thread computes.
struct ColumnRange {
  std::ptrdiff_t begin, end;
};

template <class V>
struct ProductScratch {
  V* x;  // (min(kBlockRows, rows) + kMostTileRows) * min(kBlockTerms, inner)
  V* y;  // kMostTileColumns * min(kBlockTerms, inner)
};

}  // namespace backgauge
