// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/gemm.h"

#include "impl/cpu/path.h"

namespace backgauge::cpu {
namespace {

// A panel [kDepth, 16] of floats takes half of a 32 KiB L1, a block [kRows, kDepth] of A a fifth of a 512 KiB L2.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kRows = 16 * kTileRows;

// Columns of a tile of the recurrent state: wide enough for a fused pointwise loop, narrow enough to have many tiles.
constexpr std::int64_t kPanelsPerTile = 4;

const GemmKernels& chosen_kernels() {
#if defined(BACKGAUGE_X86_KERNELS)
  if (path() == Path::kAvx512) return gemm_kernels_avx512();
  if (path() == Path::kAvx2) return gemm_kernels_avx2();
#endif
  return gemm_kernels_baseline();
}

}  // namespace

template <>
const GemmKernel<float>& gemm_kernel<float>() {
  return chosen_kernels().f32;
}

template <>
const GemmKernel<double>& gemm_kernel<double>() {
  return chosen_kernels().f64;
}

template <class T>
GemmScratch<T>::GemmScratch(Workspace& workspace, std::int64_t columns, int members)
    : panels(workspace.take<T>({kDepth, Packed<T>::padded(columns)})),
      rows(workspace.take<T>({members, kRows, kDepth})) {}

template <class T, class A, class B>
void multiply(Member& member, const GemmScratch<T>& scratch, View<A> a, View<B> b, std::int64_t rows,
              std::int64_t columns, std::int64_t depth, T* c, std::int64_t c_row, bool accumulate) {
  if (depth == 0 && !accumulate) {
    const Range range = member.share(rows);
    for (std::int64_t row = range.begin; row < range.end; ++row) std::fill_n(c + row * c_row, columns, T(0));
    member.wait();
  }
  const GemmKernel<T>& kernel = gemm_kernel<T>();
  const std::int64_t panels = Packed<T>::panels(columns), row_blocks = blocks(rows, kRows);
  // One task is a block of rows; where these are too few for all members, it is a part of the columns of one.
  const std::int64_t splits = row_blocks == 0 ? 1
                                              : std::clamp(blocks(member.count(), row_blocks), std::int64_t{1},
                                                           std::max(panels, std::int64_t{1}));
  T* packed_rows = scratch.rows + member.index() * kRows * kDepth;
  for (std::int64_t first = 0; first < depth; first += kDepth) {
    const std::int64_t deep = std::min(kDepth, depth - first);
    const Packed<T> packed{scratch.panels, deep, columns};
    const Range packs = member.share(panels);
    for (std::int64_t panel = packs.begin; panel < packs.end; ++panel) {
      packed.pack(View<B>{b.at(first, 0), b.row_stride, b.column_stride}, panel);
    }
    member.wait();
    const Range tasks = member.share(row_blocks * splits);
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
      const std::int64_t row = task / splits * kRows, tall = std::min(kRows, rows - row);
      const std::int64_t tiles = blocks(tall, kTileRows);
      for (std::int64_t index = 0; index < tiles; ++index) {
        const Block tile = block(tall, tiles, index);
        pack_rows(View<A>{a.at(row + tile.begin, first), a.row_stride, a.column_stride}, tile.size, deep,
                  packed_rows + tile.begin * deep);
      }
      const Block part = block(panels, splits, task % splits);
      for (std::int64_t panel = part.begin; panel < part.begin + part.size; ++panel) {
        const std::int64_t column = panel * kernel.columns;
        const std::int64_t live = std::min<std::int64_t>(kernel.columns, columns - column);
        for (std::int64_t index = 0; index < tiles; ++index) {
          const Block tile = block(tall, tiles, index);
          kernel.packed(static_cast<int>(tile.size), deep, packed_rows + tile.begin * deep, packed.panel(panel),
                        c + (row + tile.begin) * c_row + column, c_row, live, accumulate || first > 0);
        }
      }
    }
    member.wait();
  }
}

TileGrid::TileGrid(std::int64_t rows, std::int64_t columns, std::int64_t panel)
    : rows_(rows),
      columns_(columns),
      width_(kPanelsPerTile * panel),
      row_blocks_(blocks(rows, kTileRows)),
      column_blocks_(blocks(columns, width_)) {}

// Neighbours in a column come one after the other: they share the packed weights.
Tile TileGrid::tile(std::int64_t index) const {
  const Block rows = block(rows_, row_blocks_, index % row_blocks_);
  const std::int64_t column = index / row_blocks_ * width_;
  return {rows.begin, rows.size, column, std::min(width_, columns_ - column)};
}

template <class T>
void multiply_tile(const Tile& tile, const T* a, std::int64_t a_row, const Packed<T>& b, T* c, std::int64_t c_row,
                   bool accumulate) {
  const GemmKernel<T>& kernel = gemm_kernel<T>();
  const std::int64_t end = tile.column + tile.columns;
  for (std::int64_t column = tile.column; column < end; column += kernel.columns) {
    kernel.strided(static_cast<int>(tile.rows), b.depth, a + tile.row * a_row, a_row, b.panel(column / kernel.columns),
                   c + tile.row * c_row + column, c_row, std::min<std::int64_t>(kernel.columns, end - column),
                   accumulate);
  }
}

#define BACKGAUGE_MULTIPLY(T, A, B)                                                                                  \
  template void multiply(Member&, const GemmScratch<T>&, View<A>, View<B>, std::int64_t, std::int64_t, std::int64_t, \
                         T*, std::int64_t, bool);
BACKGAUGE_MULTIPLY(float, float, float)
BACKGAUGE_MULTIPLY(float, float, Half)
BACKGAUGE_MULTIPLY(float, Half, float)
BACKGAUGE_MULTIPLY(float, Half, Half)
BACKGAUGE_MULTIPLY(double, double, double)
#undef BACKGAUGE_MULTIPLY

template struct GemmScratch<float>;
template struct GemmScratch<double>;
template void multiply_tile(const Tile&, const float*, std::int64_t, const Packed<float>&, float*, std::int64_t, bool);
template void multiply_tile(const Tile&, const double*, std::int64_t, const Packed<double>&, double*, std::int64_t,
                            bool);

}  // namespace backgauge::cpu
