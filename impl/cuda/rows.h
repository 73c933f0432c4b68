// SPDX-License-Identifier: Apache-2.0
// Rows of elements that are each made of others at the same place, and stored with one rounding.
#pragma once

#include "impl/cuda/device/kernel.h"
#include "impl/cuda/operand.h"

namespace backgauge::cuda {

// Source: has template <int count> BACKGAUGE_BOTH void get(row, column, Real (&)[count]) const.
// To: Storage, or the type that it is computed in.
template <class Storage, class Source, class To, int kWidth>
struct RowsKernel {
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  Source source;
  Operand<To> to;
  std::int64_t rows, columns;

  static std::int64_t blocks(std::int64_t rows, std::int64_t columns) {
    return blocks_for(rows * (columns / kWidth), kThreads);
  }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t k = thread.block * kThreads + thread.index, each = columns / kWidth;
    if (k >= rows * each) return;
    const std::int64_t row = k / each, column = k % each * kWidth;
    Compute<Storage> values[kWidth];
    source.template get<kWidth>(row, column, values);
    if constexpr (std::is_same_v<To, Storage>) {
      store_operand(values, to + (row * columns + column));
    } else {
      store_each(values, to.data + row * columns + column);
    }
  }
};

// to[rows, columns], without gaps. wide: everything can be accessed in vectors of Storage.
template <class Storage, class Source, class To>
void make_rows(Queue& queue, const Source& source, const Operand<To>& to, std::int64_t rows, std::int64_t columns,
               bool wide) {
  if (columns == 0) return;
  with_width<Storage>(wide, [&](auto width) {
    using Kernel = RowsKernel<Storage, Source, To, width>;
    queue.launch(Kernel::blocks(rows, columns), Kernel{source, to, rows, columns});
  });
}

template <class Storage, class Source, class To>
void make_rows(Queue& queue, const Source& source, To* to, std::int64_t rows, std::int64_t columns, bool wide) {
  make_rows<Storage>(queue, source, Operand<To>{to}, rows, columns, wide);
}

// Of Storage.
template <class Storage>
struct StoredRows {
  const Storage* from;
  std::int64_t stride;

  template <int kCount>
  BACKGAUGE_BOTH void get(std::int64_t row, std::int64_t column, Compute<Storage> (&to)[kCount]) const {
    load(from + row * stride + column, to);
  }
};

// Reads one array, or the sum of two, in the type of the computation.
template <class Real>
struct ComputedRows {
  const Real *first, *second;  // second: or nullptr
  std::int64_t stride;

  template <int kCount>
  BACKGAUGE_BOTH void get(std::int64_t row, std::int64_t column, Real (&to)[kCount]) const {
    load_each(first + row * stride + column, to);
    if (second == nullptr) return;
    Real more[kCount];
    load_each(second + row * stride + column, more);
    BACKGAUGE_UNROLL
    for (int k = 0; k < kCount; ++k) to[k] += more[k];
  }
};

}  // namespace backgauge::cuda
