// SPDX-License-Identifier: Apache-2.0
// Copies of operands in the order that tiles read, in the type that is computed in.
#include "impl/cpu/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_PACK_INL_H
#undef BACKGAUGE_CPU_PACK_INL_H
#else
#define BACKGAUGE_CPU_PACK_INL_H
#endif
// clang-format on

#include <cstring>

#include "impl/cpu/blocks.h"
#include "impl/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Four rows of `from` (stride apart), four elements each, as four columns of `to` (kPanel apart).
template <class S>
HWY_INLINE void transpose_4x4(const S* from, std::int64_t stride, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t r = 0; r < 4; ++r) to[k * kPanel<float> + r] = wide(from[r * stride + k]);
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto r0 = load(d, from), r1 = load(d, from + stride), r2 = load(d, from + 2 * stride),
             r3 = load(d, from + 3 * stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + kPanel<float>);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * kPanel<float>);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * kPanel<float>);
#endif
}
HWY_INLINE void transpose_4x4(const double* from, std::int64_t stride, double* to) {
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t r = 0; r < 4; ++r) to[k * kPanel<double> + r] = from[r * stride + k];
  }
}

// `rows` rows of `from` (stride apart, at most kPanel) as the columns of a panel [depth, kPanel]; columns beyond are 0,
// which no result depends on.
template <class S, class T>
void pack_transposed(const S* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, T* to) {
  constexpr std::int64_t P = kPanel<T>, kLine = 64 / sizeof(S);
  const std::int64_t whole_rows = rows / 4 * 4, whole_depth = depth / 4 * 4;
  for (std::int64_t first = 0; first < whole_depth; first += kLine) {
    const std::int64_t end = std::min(whole_depth, first + kLine);
    for (std::int64_t r = 0; r < whole_rows; r += 4) {
      for (std::int64_t k = first; k < end; k += 4) transpose_4x4(from + r * stride + k, stride, to + k * P + r);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t r = k < whole_depth ? whole_rows : 0; r < rows; ++r) to[k * P + r] = wide(from[r * stride + k]);
    for (std::int64_t r = rows; r < P; ++r) to[k * P + r] = 0;
  }
}

// Rows of `from` [depth, columns] (stride apart, at most kPanel columns) as a panel; columns beyond are 0.
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

// Tiles that share a panel of the right operand.
inline constexpr std::int64_t kTilesPerBlock = 96 / kTileRows;

// `depth` groups of kRows elements, `stride` apart, one after the other.
template <int kRows, class T>
void copy_groups(std::int64_t rows, const T* from, std::int64_t stride, std::int64_t depth, T* to) {
  if (rows == kRows) {
    for (std::int64_t k = 0; k < depth; ++k) std::memcpy(to + k * kRows, from + k * stride, kRows * sizeof(T));
  } else if constexpr (kRows > 1) {
    copy_groups<kRows - 1>(rows, from, stride, depth, to);
  }
}

// Columns of `from` [depth, count] (stride apart) as the rows of `tiles` tiles [depth, rows], `tile_stride` apart, from
// row `first` of their depth on.
template <class S, class T>
void pack_tiles(const S* from, std::int64_t stride, std::int64_t count, std::int64_t depth, std::int64_t tiles,
                std::int64_t first, T* to, std::int64_t tile_stride) {
  constexpr std::int64_t kMost = kTilesPerBlock * kTileRows, kPiece = 32;  // of float 12 KiB: less than an L1
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
