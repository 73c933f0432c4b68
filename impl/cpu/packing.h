// SPDX-License-Identifier: Apache-2.0
// Matrices as they lie in memory, and copies of them in the order the kernels read, in the type they compute in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "impl/cpu/blocks.h"
#include "impl/cpu/gemm_kernel.h"
#include "impl/cpu/scalar.h"

namespace backgauge::cpu {

// Element (row, column) of a matrix or of its transpose.
template <class Storage>
struct View {
  const Storage* data;
  std::int64_t row_stride, column_stride;

  const Storage* at(std::int64_t row, std::int64_t column) const {
    return data + row * row_stride + column * column_stride;
  }
};

// `columns` columns of `depth` rows as a panel [depth, width]; the columns beyond are 0, which no result depends on.
template <class T, class Storage>
void pack_panel(View<Storage> b, std::int64_t depth, std::int64_t columns, std::int64_t width, T* panel) {
  for (std::int64_t k = 0; k < depth; ++k) {
    const Storage* row = b.at(k, 0);
    T* out = panel + k * width;
    if (b.column_stride == 1) {
      for (std::int64_t j = 0; j < columns; ++j) out[j] = wide(row[j]);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) out[j] = wide(row[j * b.column_stride]);
    }
    std::fill(out + columns, out + width, T(0));
  }
}

// `rows` rows of `depth` columns as [depth, rows].
template <class T, class Storage>
void pack_rows(View<Storage> a, std::int64_t rows, std::int64_t depth, T* block) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const Storage* in = a.at(row, 0);
    for (std::int64_t k = 0; k < depth; ++k) block[k * rows + row] = wide(in[k * a.column_stride]);
  }
}

// A whole matrix [depth, columns] in panels.
template <class T>
struct Packed {
  T* data = nullptr;
  std::int64_t depth = 0, columns = 0;

  static std::int64_t panels(std::int64_t columns) { return blocks(columns, gemm_kernel<T>().columns); }
  static std::int64_t padded(std::int64_t columns) { return panels(columns) * gemm_kernel<T>().columns; }

  const T* panel(std::int64_t index) const { return data + index * depth * gemm_kernel<T>().columns; }

  template <class Storage>
  void pack(View<Storage> b, std::int64_t index) const {
    const std::int64_t width = gemm_kernel<T>().columns, column = index * width;
    pack_panel(View<Storage>{b.at(0, column), b.row_stride, b.column_stride}, depth, std::min(width, columns - column),
               width, data + index * depth * width);
  }
};

}  // namespace backgauge::cpu
