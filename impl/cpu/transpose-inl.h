// SPDX-License-Identifier: Apache-2.0
// Sums of the tiles of a block of rows and one panel, stored with rows and columns exchanged: what a panel's column
// gives is one long run.
#include "impl/cpu/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_TRANSPOSE_INL_H
#undef BACKGAUGE_CPU_TRANSPOSE_INL_H
#else
#define BACKGAUGE_CPU_TRANSPOSE_INL_H
#endif
// clang-format on

#include "impl/cpu/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class T>
struct Exchanged {
  T* to;  // [live, rows of all tiles]
  std::int64_t stride, live;
};

#if HWY_TARGET != HWY_SCALAR
// Four columns of two rows, as two elements of each of four rows.
HWY_INLINE void store_pair(const float* row, const float* next, float* to, std::int64_t stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Half<decltype(d)> pair;
  const auto a = load(d, row), b = load(d, next);
  const auto first = hn::InterleaveLower(d, a, b), second = hn::InterleaveUpper(d, a, b);
  hn::StoreU(hn::LowerHalf(pair, first), pair, to);
  hn::StoreU(hn::UpperHalf(pair, first), pair, to + stride);
  hn::StoreU(hn::LowerHalf(pair, second), pair, to + 2 * stride);
  hn::StoreU(hn::UpperHalf(pair, second), pair, to + 3 * stride);
}
HWY_INLINE void store_pair(const double* row, const double* next, double* to, std::int64_t stride) {
  const hn::FixedTag<double, 2> d;
  for (std::int64_t j = 0; j < 4; j += 2, to += 2 * stride) {
    const auto a = load(d, row + j), b = load(d, next + j);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + stride);
  }
}
#endif

// sums: [tile][row][column of the panel], kPartial apart.
template <class T>
void store_transposed(const T* sums, const Blocks& rows, std::int64_t tiles, const Exchanged<T>& out) {
  constexpr std::int64_t P = kPanel<T>;
  std::int64_t column = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; column + 4 <= out.live; column += 4) {
    for (std::int64_t k = 0; k < tiles; ++k) {
      const T* from = sums + k * kPartial<T> + column;
      const Block tile = rows[k];
      T* const to = out.to + column * out.stride + tile.begin;
      std::int64_t r = 0;
      for (; r + 2 <= tile.size; r += 2) store_pair(from + r * P, from + (r + 1) * P, to + r, out.stride);
      if (r < tile.size) {
        for (std::int64_t j = 0; j < 4; ++j) to[j * out.stride + r] = from[r * P + j];
      }
    }
  }
#endif
  for (; column < out.live; ++column) {
    for (std::int64_t k = 0; k < tiles; ++k) {
      const Block tile = rows[k];
      for (std::int64_t r = 0; r < tile.size; ++r) {
        out.to[column * out.stride + tile.begin + r] = sums[k * kPartial<T> + r * P + column];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
