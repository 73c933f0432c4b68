// SPDX-License-Identifier: Apache-2.0
// Large products, one member's rows of them. Sums of a block of rows and a group of panels stay in L2 while the depth
// goes by, and every element of the result is written once.
#include "impl/cpu/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_PRODUCT_INL_H
#undef BACKGAUGE_CPU_PRODUCT_INL_H
#else
#define BACKGAUGE_CPU_PRODUCT_INL_H
#endif
// clang-format on

#include "impl/cpu/blocks.h"
#include "impl/cpu/pack-inl.h"
#include "impl/cpu/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Tiles that share a panel of the right operand, and panels that share the tiles.
inline constexpr std::int64_t kTilesPerBlock = 96 / kTileRows, kPanelsPerGroup = 8;
// Depth of a piece of both operands: a panel of so many rows takes half of a 32 KiB L1.
inline constexpr std::int64_t kDepth = 256;

// Of one member.
template <class T>
T* take_partials(Workspace& workspace, std::int64_t members) {
  return workspace.take<T>({members, kTilesPerBlock, kPanelsPerGroup, kTileRows, kPanel<T>});
}

// For tiles 0 .. tiles - 1 (at most kTilesPerBlock) and all panels: the sum over all pieces of the depth.
//   operands(piece, tile, panel) -> Operands
//   rows(tile) -> their number
//   output(tile, panel) -> Output
template <Layout kLayout, class T, class GetOperands, class GetRows, class GetOutput>
HWY_INLINE void multiply_block(std::int64_t tiles, std::int64_t panels, std::int64_t pieces, T* partials,
                               GetOperands operands, GetRows rows, GetOutput output) {
  constexpr std::int64_t kTile = kTileRows * kPanel<T>;
  for (std::int64_t group = 0; group < panels; group += kPanelsPerGroup) {
    const std::int64_t end = std::min(panels, group + kPanelsPerGroup);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      for (std::int64_t panel = group; panel < end; ++panel) {
        T* sums = partials + (panel - group) * kTilesPerBlock * kTile;
        for (std::int64_t k = 0; k < tiles; ++k, sums += kTile) {
          const T* before = piece == 0 ? nullptr : sums;
          if (piece + 1 < pieces) {
            tile_of<kLayout>(rows(k), operands(piece, k, panel), before, Partial<T>{sums});
          } else {
            tile_of<kLayout>(rows(k), operands(piece, k, panel), before, output(k, panel));
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
