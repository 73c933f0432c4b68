// SPDX-License-Identifier: Apache-2.0
// Products of small whole numbers are exact in float, whatever the order: compared for equality with plain loops.
#include "impl/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace backgauge::cpu {
namespace {

float element(std::int64_t row, std::int64_t column) { return static_cast<float>((row * 7 + column * 3) % 11 - 5); }

template <class T>
struct Memory {
  std::vector<T> values;
  explicit Memory(std::int64_t count) : values(static_cast<std::size_t>(count)) {}
  T& operator[](std::int64_t k) { return values[static_cast<std::size_t>(k)]; }
  T* data() { return values.data(); }
};

// a_transposed, b_transposed: how the operands lie in memory. c has two columns more than are computed.
void expect_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool a_transposed, bool b_transposed,
                    bool accumulate, int threads) {
  Memory<float> a(rows * depth);
  Memory<Half> b(depth * columns);
  const View<float> a_view{a.data(), a_transposed ? 1 : depth, a_transposed ? rows : 1};
  const View<Half> b_view{b.data(), b_transposed ? 1 : columns, b_transposed ? depth : 1};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < depth; ++k) a[a_view.at(row, k) - a.data()] = element(row, k);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t column = 0; column < columns; ++column) {
      b[b_view.at(k, column) - b.data()] = Half(element(k + 5, column));
    }
  }
  const std::int64_t c_row = columns + 2;
  constexpr float kBefore = 3;
  Memory<float> c(rows * c_row);
  std::fill(c.values.begin(), c.values.end(), kBefore);

  Workspace count;
  GemmScratch<float>(count, columns, threads);
  std::vector<std::byte> memory(count.bytes() + Workspace::kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  Workspace workspace(memory.data() + (Workspace::kAlignment - address % Workspace::kAlignment));
  const GemmScratch<float> scratch(workspace, columns, threads);
  run_team(threads, [&](Member& member) {
    multiply(member, scratch, a_view, b_view, rows, columns, depth, c.data(), c_row, accumulate);
  });

  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < c_row; ++column) {
      float want = kBefore;
      if (column < columns) {
        want = accumulate ? kBefore : 0;
        for (std::int64_t k = 0; k < depth; ++k) want += element(row, k) * element(k + 5, column);
      }
      ASSERT_EQ(c[row * c_row + column], want)
          << rows << "x" << columns << "x" << depth << " [" << row << ", " << column << "]";
    }
  }
}

TEST(Gemm, SmallShapes) {
  for (std::int64_t rows = 0; rows <= 13; ++rows) {
    for (const std::int64_t columns : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33}) {
      for (const std::int64_t depth : {0, 1, 2, 5}) expect_product(rows, columns, depth, false, false, false, 1);
    }
  }
}

TEST(Gemm, AllLayoutsAcrossBlockBoundaries) {
  for (const int threads : {1, 2, 5}) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        for (const bool accumulate : {false, true}) {
          expect_product(97, 70, 513, a_transposed, b_transposed, accumulate, threads);
          expect_product(6, 130, 256, a_transposed, b_transposed, accumulate, threads);
          expect_product(200, 3, 1, a_transposed, b_transposed, accumulate, threads);
        }
      }
    }
  }
}

TEST(Gemm, TilesCoverTheStateOnce) {
  const std::int64_t panel = gemm_kernel<float>().columns;
  for (const std::int64_t rows : {0, 1, 6, 7, 13}) {
    for (const std::int64_t columns : {1, 16, 65, 300}) {
      const TileGrid grid(rows, columns, panel);
      Memory<int> seen(rows * columns);
      for (std::int64_t k = 0; k < grid.count(); ++k) {
        const Tile tile = grid.tile(k);
        EXPECT_EQ(tile.column % panel, 0);
        EXPECT_LE(tile.rows, kTileRows);
        for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
          for (std::int64_t column = tile.column; column < tile.column + tile.columns; ++column) {
            ++seen[row * columns + column];
          }
        }
      }
      for (const int times : seen.values) EXPECT_EQ(times, 1);
    }
  }
}

// Each instruction set that this machine has, not only the one that is chosen.
TEST(Gemm, KernelsOfEveryInstructionSet) {
  std::vector<const GemmKernels*> all = {&gemm_kernels_baseline()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&gemm_kernels_avx2());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) all.push_back(&gemm_kernels_avx512());
#endif
  for (const GemmKernels* kernels : all) {
    const GemmKernel<double>& kernel = kernels->f64;
    constexpr std::int64_t kDepth = 9;
    for (int rows = 1; rows <= kTileRows; ++rows) {
      for (std::int64_t live = 1; live <= kernel.columns; ++live) {
        Memory<double> packed(kDepth * rows), strided(rows * kDepth), panel(kDepth * kernel.columns), c(rows * live),
            d(rows * live);
        for (std::int64_t k = 0; k < kDepth; ++k) {
          for (std::int64_t row = 0; row < rows; ++row) {
            packed[k * rows + row] = strided[row * kDepth + k] = static_cast<double>(element(row, k));
          }
          for (std::int64_t j = 0; j < kernel.columns; ++j) {
            panel[k * kernel.columns + j] = j < live ? static_cast<double>(element(k, j)) : std::nan("");
          }
        }
        kernel.packed(rows, kDepth, packed.data(), panel.data(), c.data(), live, live, false);
        kernel.strided(rows, kDepth, strided.data(), kDepth, panel.data(), d.data(), live, live, true);
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t j = 0; j < live; ++j) {
            double want = 0;
            for (std::int64_t k = 0; k < kDepth; ++k) want += static_cast<double>(element(row, k) * element(k, j));
            ASSERT_EQ(c[row * live + j], want);
            ASSERT_EQ(d[row * live + j], want);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace backgauge::cpu
