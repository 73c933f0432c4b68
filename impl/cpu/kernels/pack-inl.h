// SPDX-License-Identifier: Apache-2.0
// Copies of operands in the order that tiles read, in the type of the computation.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_PACK_INL_H
#undef BACKGAUGE_CPU_PACK_INL_H
#else
#define BACKGAUGE_CPU_PACK_INL_H
#endif
// clang-format on

#include <cstring>

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Elements of a block of 128 bits, in which wider vectors are interleaved.
template <class T>
inline constexpr std::int64_t kBlock = 16 / sizeof(T);

// transpose<R>: R rows of `from` (stride apart), a block each, as columns of a panel.
#if HWY_TARGET == HWY_SCALAR
template <std::int64_t R, class S, class T>
void transpose(const S* from, std::int64_t stride, T* to) {
  for (std::int64_t k = 0; k < kBlock<T>; ++k) {
    for (std::int64_t r = 0; r < R; ++r) to[k * kPanel<T> + r] = wide(from[r * stride + k]);
  }
}
#else
// Stores a block of every kBlock-th row, one after the other.
template <class D, class S>
HWY_INLINE hn::Vec<D> load_blocks(D d, const S* from, std::int64_t stride) {
  constexpr auto kSize = static_cast<std::int64_t>(hn::MaxLanes(D()));
  if constexpr (kSize == kBlock<hn::TFromD<D>>) {
    return load(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + kSize / 2 * stride, stride), load_blocks(half, from, stride));
  }
}

template <std::int64_t R, class S>
HWY_INLINE void transpose(const S* from, std::int64_t stride, float* to) {
  const hn::FixedTag<float, R> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto r0 = load_blocks(d, from, stride), r1 = load_blocks(d, from + stride, stride),
             r2 = load_blocks(d, from + 2 * stride, stride), r3 = load_blocks(d, from + 3 * stride, stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  store(d, hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), to);
  store(d, hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), to + kPanel<float>);
  store(d, hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), to + 2 * kPanel<float>);
  store(d, hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), to + 3 * kPanel<float>);
}
template <std::int64_t R>
HWY_INLINE void transpose(const double* from, std::int64_t stride, double* to) {
  const hn::FixedTag<double, R> d;
  const auto even = load_blocks(d, from, stride), odd = load_blocks(d, from + stride, stride);
  store(d, hn::InterleaveLower(d, even, odd), to);
  store(d, hn::InterleaveUpper(d, even, odd), to + kPanel<double>);
}
#endif

// Packs the rows from `first` on, R at a time, in blocks of the depth. Returns the first row that is left.
template <std::int64_t R, class S, class T>
std::int64_t transpose_rows(const S* from, std::int64_t stride, std::int64_t first, std::int64_t rows,
                            std::int64_t depth, T* to) {
  constexpr std::int64_t kLine = 64 / sizeof(S);
  for (std::int64_t begin = 0; begin < depth; begin += kLine) {
    const std::int64_t end = std::min(depth, begin + kLine);
    for (std::int64_t r = first; r + R <= rows; r += R) {
      // Prefetches the next lines: rows may be pages apart, where no hardware prefetches.
      for (std::int64_t row = r; row < r + R; ++row) hwy::Prefetch(from + row * stride + end);
      for (std::int64_t k = begin; k < end; k += kBlock<T>) {
        transpose<R>(from + r * stride + k, stride, to + k * kPanel<T> + r);
      }
    }
  }
  return first + (rows - first) / R * R;
}

// Packs `rows` rows of `from` (stride apart, at most kPanel) as the columns of a panel [depth, kPanel]; the remaining
// columns are 0, and no result depends on them.
template <class S, class T>
void pack_transposed(const S* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, T* to) {
  constexpr std::int64_t P = kPanel<T>;
  const std::int64_t whole = depth / kBlock<T> * kBlock<T>;
  std::int64_t done = transpose_rows<std::max(kLanes<T>, kBlock<T>)>(from, stride, 0, rows, whole, to);
  done = transpose_rows<kBlock<T>>(from, stride, done, rows, whole, to);
  for (std::int64_t k = done == P ? whole : 0; k < depth; ++k) {
    for (std::int64_t r = k < whole ? done : 0; r < rows; ++r) to[k * P + r] = wide(from[r * stride + k]);
    for (std::int64_t r = rows; r < P; ++r) to[k * P + r] = 0;
  }
}

// Packs rows of `from` [depth, columns] (stride apart, at most kPanel columns) as a panel; remaining columns are 0.
template <class S, class T>
void pack_straight(const S* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, T* to) {
  const Tag<T> d;
  for (std::int64_t k = 0; k < depth; ++k, from += stride, to += kPanel<T>) {
    for (std::int64_t lane = 0; lane < kPanel<T>; lane += kLanes<T>) {
      const std::int64_t live = std::clamp(columns - lane, std::int64_t{0}, kLanes<T>);
      store(d, live == kLanes<T> ? load(d, from + lane) : load_part(d, from + lane, live), to + lane);
    }
  }
}

// Copies the used columns of `rows` rows of a panel to rows of `stride`.
template <class T, class S>
void store_columns(const T* from, std::int64_t rows, std::int64_t columns, S* to, std::int64_t stride) {
  const Tag<T> d;
  for (std::int64_t row = 0; row < rows; ++row, from += kPanel<T>, to += stride) {
    for (std::int64_t lane = 0; lane < columns; lane += kLanes<T>) {
      if (lane + kLanes<T> <= columns) {
        store(d, load(d, from + lane), to + lane);
      } else {
        store_part(d, load(d, from + lane), to + lane, columns - lane);
      }
    }
  }
}

// Tiles that share a panel of the right operand: about a hundred rows.
inline constexpr std::int64_t kTilesPerBlock = (96 + kTileRows - 1) / kTileRows;

// Copies `depth` groups of kRows elements, `stride` apart, one after the other.
template <int kRows, class T>
void copy_groups(std::int64_t rows, const T* from, std::int64_t stride, std::int64_t depth, T* to) {
  if (rows == kRows) {
    for (std::int64_t k = 0; k < depth; ++k) std::memcpy(to + k * kRows, from + k * stride, kRows * sizeof(T));
  } else if constexpr (kRows > 1) {
    copy_groups<kRows - 1>(rows, from, stride, depth, to);
  }
}

// Packs columns of `from` [depth, count] (stride apart) as rows of `tiles` tiles [depth, rows], `tile_stride` apart,
// from row `first` of their depth on.
template <class S, class T>
void pack_tiles(const S* from, std::int64_t stride, std::int64_t count, std::int64_t depth, std::int64_t tiles,
                std::int64_t first, T* to, std::int64_t tile_stride) {
  constexpr std::int64_t kMost = kTilesPerBlock * kTileRows, kPiece = 32;  // 12 KiB in float: less than an L1
  HWY_ALIGN T wide_rows[std::is_same_v<S, T> ? 1 : kPiece * kMost];
  for (std::int64_t begin = 0; begin < depth; begin += kPiece) {
    const std::int64_t deep = std::min(kPiece, depth - begin);
    const T* rows = nullptr;
    std::int64_t row_stride = stride;
    if constexpr (std::is_same_v<S, T>) {
      rows = from + begin * stride;
    } else {
      rows = wide_rows;
      row_stride = kMost;
      for (std::int64_t k = 0; k < deep; ++k) convert(from + (begin + k) * stride, count, wide_rows + k * kMost);
    }
    for (std::int64_t k = 0; k < tiles; ++k) {
      const Block tile = block(count, tiles, k);
      copy_groups<kTileRows>(tile.size, rows + tile.begin, row_stride, deep,
                             to + k * tile_stride + (first + begin) * tile.size);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
