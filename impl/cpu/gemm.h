// SPDX-License-Identifier: Apache-2.0
// Large products by a whole team, and the small ones of a recurrent step by one member.
#pragma once

#include "impl/cpu/packing.h"
#include "impl/cpu/threads.h"
#include "impl/cpu/workspace.h"

namespace backgauge::cpu {

// What the team needs for products of at most `columns` columns.
template <class T>
struct GemmScratch {
  T* panels;  // a depth block of B, all columns
  T* rows;    // for each member a block of A

  GemmScratch(Workspace& workspace, std::int64_t columns, int members);
};

// c [rows, columns] (row stride c_row) = a [rows, depth] b [depth, columns], or += if accumulate.
// Called by every member with the same arguments; the operands must have been written before the last wait(), and c can
// be read after the call. The bits do not depend on the number of members.
template <class T, class A, class B>
void multiply(Member& member, const GemmScratch<T>& scratch, View<A> a, View<B> b, std::int64_t rows,
              std::int64_t columns, std::int64_t depth, T* c, std::int64_t c_row, bool accumulate);

// A part of the [B, H] state of a step that one member computes: some rows and whole panels of columns.
struct Tile {
  std::int64_t row, rows, column, columns;
};

class TileGrid {
 public:
  TileGrid(std::int64_t rows, std::int64_t columns, std::int64_t panel);

  std::int64_t count() const { return row_blocks_ * column_blocks_; }
  Tile tile(std::int64_t index) const;

 private:
  std::int64_t rows_, columns_, width_, row_blocks_, column_blocks_;
};

// The tile of c (row stride c_row) = a (row stride a_row, as deep as b) b, or += if accumulate. a and c point at row 0.
template <class T>
void multiply_tile(const Tile& tile, const T* a, std::int64_t a_row, const Packed<T>& b, T* c, std::int64_t c_row,
                   bool accumulate);

}  // namespace backgauge::cpu
