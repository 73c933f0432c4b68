// SPDX-License-Identifier: Apache-2.0
// The tiles of all products, which are compiled once, in tiles.cc. Included before the products are used.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_TILES_INL_H
#undef BACKGAUGE_CPU_TILES_INL_H
#else
#define BACKGAUGE_CPU_TILES_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/state-inl.h"

#ifdef BACKGAUGE_CPU_COMPILES_TILES
#define BACKGAUGE_TILES template
#else
#define BACKGAUGE_TILES extern template
#endif

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class T>
using UnroundedOutput = Output<T, T>;

#define BACKGAUGE_TILE(kRows, kNarrow, kLayout, T, Sums) \
  BACKGAUGE_TILES void tile<kRows, kNarrow, Layout::kLayout, T, Sums<T>>(const Operands<T>&, const T*, const Sums<T>&);

// For kTileRows rows and fewer.
#if HWY_TARGET == HWY_SCALAR
#define BACKGAUGE_FOR_WIDTHS(kRows, ...) BACKGAUGE_TILE(kRows, false, __VA_ARGS__)
#define BACKGAUGE_FOR_HEIGHTS(...)     \
  BACKGAUGE_FOR_WIDTHS(1, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(2, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(3, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(4, __VA_ARGS__)
static_assert(kTileRows == 4 && kVectors<float> != 2 && kVectors<double> != 2);
#else
#define BACKGAUGE_FOR_WIDTHS(kRows, ...)    \
  BACKGAUGE_TILE(kRows, false, __VA_ARGS__) \
  BACKGAUGE_TILE(kRows, true, __VA_ARGS__)
#define BACKGAUGE_FOR_SIX_HEIGHTS(...) \
  BACKGAUGE_FOR_WIDTHS(1, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(2, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(3, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(4, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(5, __VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(6, __VA_ARGS__)
#if HWY_TARGET == HWY_AVX2
#define BACKGAUGE_FOR_HEIGHTS(...) BACKGAUGE_FOR_SIX_HEIGHTS(__VA_ARGS__)
static_assert(kTileRows == 6);
#else
#define BACKGAUGE_FOR_HEIGHTS(...)       \
  BACKGAUGE_FOR_SIX_HEIGHTS(__VA_ARGS__) \
  BACKGAUGE_FOR_WIDTHS(7, __VA_ARGS__)   \
  BACKGAUGE_FOR_WIDTHS(8, __VA_ARGS__)   \
  BACKGAUGE_FOR_WIDTHS(9, __VA_ARGS__)   \
  BACKGAUGE_FOR_WIDTHS(10, __VA_ARGS__)  \
  BACKGAUGE_FOR_WIDTHS(11, __VA_ARGS__)  \
  BACKGAUGE_FOR_WIDTHS(12, __VA_ARGS__)  \
  BACKGAUGE_FOR_WIDTHS(13, __VA_ARGS__)  \
  BACKGAUGE_FOR_WIDTHS(14, __VA_ARGS__)
static_assert(kTileRows == 14);
#endif
#endif

BACKGAUGE_FOR_HEIGHTS(kAcross, float, StateSums)
BACKGAUGE_FOR_HEIGHTS(kAcross, float, Partial)
BACKGAUGE_FOR_HEIGHTS(kAcross, float, UnroundedOutput)
BACKGAUGE_FOR_HEIGHTS(kDown, float, Partial)
BACKGAUGE_FOR_HEIGHTS(kDown, float, UnroundedOutput)
BACKGAUGE_FOR_HEIGHTS(kAcross, double, StateSums)
BACKGAUGE_FOR_HEIGHTS(kAcross, double, Partial)
BACKGAUGE_FOR_HEIGHTS(kAcross, double, UnroundedOutput)
BACKGAUGE_FOR_HEIGHTS(kDown, double, Partial)

#undef BACKGAUGE_TILE
#undef BACKGAUGE_TILES
#undef BACKGAUGE_FOR_WIDTHS
#undef BACKGAUGE_FOR_SIX_HEIGHTS
#undef BACKGAUGE_FOR_HEIGHTS

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
