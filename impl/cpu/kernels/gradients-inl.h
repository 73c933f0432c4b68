// SPDX-License-Identifier: Apache-2.0
// The two products over the gate gradients of all steps that are not serial: with weights, which gives gradients of
// inputs, and with inputs, which gives gradients of weights. Sums of a block of rows and a group of panels stay in L2
// during the loop over the depth, and every element of the result is written once.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_GRADIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_GRADIENTS_INL_H
#undef BACKGAUGE_CPU_GRADIENTS_INL_H
#else
#define BACKGAUGE_CPU_GRADIENTS_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/tiles-inl.h"

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

// Memory of one call for these products.
template <class T>
class ProductScratch {
 public:
  // depth: all rows of the gate gradients.
  ProductScratch(Workspace& workspace, std::int64_t members, std::int64_t depth)
      : tile_stride_(kTileRows * depth),
        tiles_(workspace.take<T>({members, kTilesPerBlock, kTileRows, depth})),
        partials_(workspace.take<T>({members, kTilesPerBlock, kPanelsPerGroup, kTileRows, kPanel<T>})) {}

  std::int64_t tile_stride() const { return tile_stride_; }
  T* tiles(const Member& member) const { return tiles_ + member.index() * kTilesPerBlock * tile_stride_; }
  T* partials(const Member& member) const {
    return partials_ + member.index() * kTilesPerBlock * kPanelsPerGroup * kTileRows * kPanel<T>;
  }

 private:
  std::int64_t tile_stride_;
  T *tiles_, *partials_;
};

// The member's part of [rows of gradients, columns] = gradients w, where w has the gates from `first_gate` on.
//   output(row, panel) -> the address of a tile of the result
template <class T, class GetOutput>
void multiply_weights(const Member& member, const StepPanels<T>& gates, std::int64_t first_gate,
                      const Weights<T>& weights, std::int64_t columns, const ProductScratch<T>& scratch,
                      GetOutput output) {
  constexpr std::int64_t P = kPanel<T>;
  const std::int64_t all_chunks = weights.gates * gates.panels(), pieces = blocks(all_chunks, kDepth / P);
  const std::int64_t stride = gates.chunk_stride(), wide = wide_panels<T>(columns);
  const Blocks chunks(all_chunks, pieces);
  for (std::int64_t b = 0; b < gates.blocks(); ++b) {
    const Block all = gates.rows(b);
    const Range range = member.share(all.size);
    const std::int64_t total = range.end - range.begin;
    const std::int64_t count = blocks(blocks(total, kTileRows), kTilesPerBlock);
    for (std::int64_t index = 0; index < count; ++index) {
      const Block own = block(total, count, index);
      const std::int64_t first = range.begin + own.begin, tiles = blocks(own.size, kTileRows);
      const Blocks rows(own.size, tiles);
      const T* const gradients = gates.at(b, first_gate * gates.panels()) + first * P;
      multiply_block<Layout::kAcross, T>(
          rows, tiles, blocks(columns, P), pieces, scratch.partials(member),
          [&](std::int64_t piece) {
            const Block deep = chunks[piece];
            const Depth depth{deep.begin, deep.end(), gates.panels(), gates.tail()};
            return [=](std::int64_t k) {
              return Operands<T>{
                  gradients + deep.begin * stride + rows[k].begin * P, stride, nullptr, depth, nullptr, 0};
            };
          },
          [&](std::int64_t piece) {
            const T* slabs = weights.slab(0, chunks[piece].begin);
            const std::int64_t panel_stride = weights.depth() * P;
            return [=](std::int64_t panel) { return slabs + panel * panel_stride; };
          },
          [=](std::int64_t panel) { return panel >= wide; },
          [&](std::int64_t piece) {
            const Block deep = chunks[piece];
            return [=](std::int64_t k, std::int64_t part, std::int64_t parts) {
              const std::int64_t each = blocks(deep.size, parts), from = part * each;
              for (std::int64_t chunk = from; chunk < std::min(deep.size, from + each); ++chunk) {
                fetch_lines(gradients + (deep.begin + chunk) * stride + rows[k].begin * P, rows[k].size * P);
              }
            };
          },
          [&](std::int64_t k, std::int64_t panel) { return output(all.begin + first + rows[k].begin, panel); });
    }
  }
}

// `count` rows, `stride` apart.
template <class S>
struct Rows {
  const S* from;
  std::int64_t stride, count;
};

// Columns [range) of inputs^T gradients, for `chunks` chunks of the gates from `first_gate` on. The inputs are the rows
// of `before`, followed by those of `after`.
//   output(column, chunk) -> the address of a tile of the result
template <class S, class T, class GetOutput>
void multiply_inputs(const Member& member, const Range& range, const Rows<S>& before, const Rows<S>& after,
                     const StepPanels<T>& gates, std::int64_t first_gate, std::int64_t chunks,
                     const ProductScratch<T>& scratch, GetOutput output) {
  constexpr std::int64_t P = kPanel<T>;
  constexpr std::int64_t kMost = 384;  // rows of a piece: in float three quarters of an L1 of 32 KiB
  const std::int64_t total = range.end - range.begin, tile_stride = scratch.tile_stride();
  const std::int64_t parts = std::max(blocks(gates.rows(0).size, kMost), std::int64_t{1});
  const std::int64_t pieces = gates.blocks() * parts, first_chunk = first_gate * gates.panels();
  const std::int64_t wide = wide_panels<T>((gates.panels() - 1) * P + gates.tail());
  T* const packed = scratch.tiles(member);
  const auto rows_of = [&](std::int64_t piece) {
    const Block all = gates.rows(piece / parts), part = block(all.size, parts, piece % parts);
    return Block{all.begin + part.begin, part.size};
  };
  const std::int64_t count = blocks(blocks(total, kTileRows), kTilesPerBlock);
  for (std::int64_t index = 0; index < count; ++index) {
    const Block own = block(total, count, index);
    const std::int64_t column = range.begin + own.begin, tiles = blocks(own.size, kTileRows);
    const Blocks rows(own.size, tiles);
    pack_tiles(before.from + column, before.stride, own.size, before.count, tiles, 0, packed, tile_stride);
    pack_tiles(after.from + column, after.stride, own.size, after.count, tiles, before.count, packed, tile_stride);
    multiply_block<Layout::kDown, T>(
        rows, tiles, chunks, pieces, scratch.partials(member),
        [&](std::int64_t piece) {
          const Block deep = rows_of(piece);
          const std::int64_t runs = blocks(deep.size, P);
          const Depth depth{0, runs, std::max(runs, std::int64_t{1}), deep.size - (runs - 1) * P};
          return [=](std::int64_t k) {
            const std::int64_t tall = rows[k].size;
            return Operands<T>{packed + k * tile_stride + deep.begin * tall, P * tall, nullptr, depth, nullptr, 0};
          };
        },
        [&](std::int64_t piece) {
          const std::int64_t b = piece / parts, stride = gates.chunk_stride();
          const T* slabs = gates.at(b, first_chunk) + (rows_of(piece).begin - gates.rows(b).begin) * P;
          return [=](std::int64_t panel) { return slabs + panel * stride; };
        },
        [&](std::int64_t panel) { return panel % gates.panels() >= wide; },
        [&](std::int64_t piece) {
          const Block deep = rows_of(piece);
          return [=](std::int64_t k, std::int64_t part, std::int64_t all) {
            const std::int64_t tall = rows[k].size, each = blocks(deep.size * tall, all);
            fetch_lines(packed + k * tile_stride + deep.begin * tall + part * each, each);
          };
        },
        [&](std::int64_t k, std::int64_t chunk) { return output(column + rows[k].begin, chunk); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
