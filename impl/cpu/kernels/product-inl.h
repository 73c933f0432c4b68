// SPDX-License-Identifier: Apache-2.0
// One member's rows of large products. Sums of a block of rows and a group of panels stay in L2 during the loop over
// the depth, and every element of the result is written once.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_PRODUCT_INL_H
#undef BACKGAUGE_CPU_PRODUCT_INL_H
#else
#define BACKGAUGE_CPU_PRODUCT_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/kernels/pack-inl.h"
#include "impl/cpu/kernels/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Panels that share a piece of the tiles.
inline constexpr std::int64_t kPanelsPerGroup = 16;
// Depth of a piece of both operands: a panel of this many rows takes half of a 32 KiB L1.
inline constexpr std::int64_t kDepth = 256;

template <class T>
HWY_INLINE void fetch_lines(const T* from, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t k = 0; k < count; k += kLine) hwy::Prefetch(from + k);
}

// A block of rows times all panels: the sum over all pieces of the depth.
//   rows              of each tile, at most kTilesPerBlock of them
//   left(piece)       -> at(tile) -> Operands, without b and prefetched memory
//   right(piece)      -> slab(panel) -> b
//   narrow(panel)     whether only its first vector is summed
//   fetch(piece)      -> ask(tile, part, parts), which prefetches a part of what left(piece) reads
//   output(tile, panel) -> Output
template <Layout kLayout, class T, class Left, class Right, class Narrow, class Fetch, class GetOutput>
HWY_INLINE void multiply_block(const Blocks& rows, std::int64_t tiles, std::int64_t panels, std::int64_t pieces,
                               T* partials, Left left, Right right, Narrow narrow, Fetch fetch, GetOutput output) {
  constexpr std::int64_t kTile = kTileRows * kPanel<T>;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const std::int64_t lines = blocks(kPanel<T> * kPanel<T> / kLine, tiles);
  for (std::int64_t group = 0; group < panels; group += kPanelsPerGroup) {
    const std::int64_t end = std::min(panels, group + kPanelsPerGroup);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const bool last = piece + 1 == pieces;
      const auto operands = left(piece);
      const auto slab = right(piece), next_slab = right(last ? 0 : piece + 1);
      const auto ask = fetch(last ? 0 : piece + 1);
      for (std::int64_t panel = group; panel < end; ++panel) {
        T* sums = partials + (panel - group) * kTilesPerBlock * kTile;
        const T* ahead = panel + 1 < end ? slab(panel + 1) : next_slab(!last ? group : end < panels ? end : 0);
        const T* const b = slab(panel);
        const bool is_narrow = narrow(panel);
        for (std::int64_t k = 0; k < tiles; ++k, sums += kTile) {
          if (pieces > 1) ask(k, panel - group, end - group);
          Operands<T> x = operands(k);
          x.b = b;
          x.narrow = is_narrow;
          x.ahead = ahead;
          x.ahead_lines = lines;
          ahead += (x.depth.end - x.depth.first) * lines * kLine;
          const T* before = piece == 0 ? nullptr : sums;
          const std::int64_t tall = rows[k].size;
          if (last) {
            write_tile<kLayout>(tall, x, before, output(k, panel));
          } else {
            tile_of<kLayout>(tall, x, before, Partial<T>{sums});
          }
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
