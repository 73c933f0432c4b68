// SPDX-License-Identifier: Apache-2.0
// Tiles, conversions and parts of vectors on every path that the machine can run, not only the chosen one. Products of
// small integers are exact in any order, so they are compared with plain loops for equality.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/kernels/tile_test.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <vector>

#include "impl/cpu/kernels/pack-inl.h"
#include "impl/cpu/kernels/tiles-inl.h"
#include "impl/cpu/machine/path.h"
#include "impl/cpu/machine/testing/paths.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

inline double element(std::int64_t row, std::int64_t column) {
  return static_cast<double>((row * 7 + column * 3) % 11 - 5);
}

// A tile over two groups of three chunks, the last of each with `tail` elements, summed in two parts of its depth.
template <Layout kLayout, class T>
void expect_tile(std::int64_t rows, std::int64_t tail, std::int64_t live) {
  constexpr std::int64_t P = kPanel<T>, kGroup = 3, kChunks = 2 * kGroup, kFirst = 2;
  const std::int64_t chunk_size = rows * P;
  std::vector<T> a(static_cast<std::size_t>(kChunks * chunk_size), T(NAN)), b;
  std::int64_t depth = 0;
  for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) {
    const std::int64_t count = (chunk + 1) % kGroup == 0 ? tail : P;
    for (std::int64_t k = 0; k < count; ++k, ++depth) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t at = kLayout == Layout::kAcross ? r * P + k : k * rows + r;
        a[static_cast<std::size_t>(chunk * chunk_size + at)] = static_cast<T>(element(r, depth));
      }
      for (std::int64_t j = 0; j < P; ++j) b.push_back(j < live ? static_cast<T>(element(depth + 5, j)) : T(NAN));
    }
  }
  std::vector<T> part(static_cast<std::size_t>(chunk_size));
  Operands<T> x{a.data(), chunk_size, b.data(), {0, kFirst, kGroup, tail}, b.data(), 1};
  tile_of<kLayout>(rows, x, static_cast<const T*>(nullptr), Partial<T>{part.data()});
  x = {a.data() + kFirst * chunk_size,  chunk_size, b.data() + kFirst * P * P,
       {kFirst, kChunks, kGroup, tail}, b.data(),   1};

  const std::int64_t stride = live + 3, down = rows + 2;
  constexpr T kBefore = 7;
  std::vector<T> out(static_cast<std::size_t>(rows * stride), kBefore);
  std::vector<T> transposed(static_cast<std::size_t>(live * down), kBefore);
  x.narrow = wide_panels<T>(live) == 0;
  write_tile<kLayout>(rows, x, part.data(), Output<T, T>{out.data(), stride, live});
  write_tile<kLayout>(rows, x, part.data(), TransposedOutput<T>{transposed.data(), down, live});
  std::vector<T> twice = out;
  write_tile<kLayout>(rows, x, part.data(), Output<T, T>{twice.data(), stride, live, true});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < stride; ++j) {
      double want = 0;
      for (std::int64_t k = 0; k < depth; ++k) want += element(r, k) * element(k + 5, j);
      const auto at = static_cast<std::size_t>(r * stride + j);
      ASSERT_EQ(out[at], j < live ? want : kBefore) << rows << " rows, tail " << tail << ": " << r << ", " << j;
      ASSERT_EQ(twice[at], j < live ? 2 * want : kBefore);
      if (j < live) {
        ASSERT_EQ(transposed[static_cast<std::size_t>(j * down + r)], want);
      }
    }
  }
  for (std::int64_t j = 0; j < live; ++j) {
    for (std::int64_t r = rows; r < down; ++r) ASSERT_EQ(transposed[static_cast<std::size_t>(j * down + r)], kBefore);
  }
}

template <class T>
void expect_tiles() {
  for (std::int64_t rows = 1; rows <= kTileRows; ++rows) {
    for (const std::int64_t tail : {std::int64_t{1}, kPanel<T> - 1, kPanel<T>}) {
      for (std::int64_t live = 1; live <= kPanel<T>; ++live) {
        expect_tile<Layout::kAcross, T>(rows, tail, live);
        expect_tile<Layout::kDown, T>(rows, tail, live);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

void expect_all_tiles() {
  expect_tiles<float>();
  expect_tiles<double>();
}

// Ordinary and non-temporal stores write the same values to the same places, and nothing beyond.
template <class T>
void expect_streams() {
  constexpr std::int64_t P = kPanel<T>, kRows = 2, kStride = 2 * P;
  std::vector<T> a(static_cast<std::size_t>(kRows * P), T(1)), b(static_cast<std::size_t>(P * P));
  for (std::int64_t j = 0; j < P; ++j) b[static_cast<std::size_t>(j)] = static_cast<T>(j + 1);
  for (const bool streams : {false, true}) {
    alignas(64) T out[kRows * kStride] = {};
    const Operands<T> x{a.data(), kRows * P, b.data(), {0, 1, 1, P}, b.data(), 0};
    write_tile<Layout::kAcross>(kRows, x, static_cast<const T*>(nullptr),
                                Output<T, T>{out, kStride, P, false, streams});
    hwy::FlushStream();
    for (std::int64_t k = 0; k < kRows * kStride; ++k) {
      const std::int64_t column = k % kStride;
      ASSERT_EQ(out[k], column < P ? static_cast<T>(column + 1) : 0) << streams << ": " << k;
    }
  }
}

void expect_all_streams() {
  expect_streams<float>();
  expect_streams<double>();
}

// Every number of rows of a panel, and depths around whole blocks and lines.
template <class S>
void expect_transposed() {
  using T = Compute<S>;
  constexpr std::int64_t P = kPanel<T>;
  for (std::int64_t rows = 0; rows <= P; ++rows) {
    for (const std::int64_t depth : {0, 1, 3, 4, 17, 64, 71}) {
      const std::int64_t stride = depth + 2;
      std::vector<S> from;
      for (std::int64_t k = 0; k < rows * stride; ++k) from.push_back(S(static_cast<float>(k % 2039)));
      std::vector<T> panel(static_cast<std::size_t>(depth * P), T(NAN));
      pack_transposed(from.data(), stride, rows, depth, panel.data());
      for (std::int64_t k = 0; k < depth * P; ++k) {
        const std::int64_t row = k % P, at = row * stride + k / P;
        ASSERT_EQ(panel[static_cast<std::size_t>(k)], row < rows ? static_cast<T>(at % 2039) : 0)
            << rows << " rows, depth " << depth << ": " << k / P << ", " << row;
      }
    }
  }
}

void expect_all_transposed() {
  expect_transposed<float>();
  expect_transposed<double>();
  expect_transposed<Half>();
}

// Every half, and the floats around each, where the rounding direction changes.
void expect_conversions() {
  constexpr std::int64_t L = kLanes<float>;
  const Tag<float> d;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::vector<Half> halves(static_cast<std::size_t>(L), std::bit_cast<Half>(static_cast<std::uint16_t>(bits)));
    std::vector<float> widened(static_cast<std::size_t>(L));
    store(d, load(d, halves.data()), widened.data());
    const float value = wide(halves[0]);
    ASSERT_TRUE(std::isnan(value) ? std::isnan(widened.back()) : widened.back() == value) << bits;
    for (const int nudge : {-0x1001, -0x1000, -0xfff, -1, 0, 1, 0xfff, 0x1000, 0x1001}) {
      const float near = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(nudge));
      std::vector<Half> rounded(static_cast<std::size_t>(L));
      store(d, hn::Set(d, near), rounded.data());
      const Half want(near);
      ASSERT_TRUE(std::isnan(near) ? std::isnan(wide(rounded.back()))
                                   : std::bit_cast<std::uint16_t>(rounded.back()) == std::bit_cast<std::uint16_t>(want))
          << near;
    }
  }
}

// Memory that ends at the end of a page: any access beyond is a fault.
template <class S>
void expect_parts_stay_inside() {
  using T = Compute<S>;
  const Tag<T> d;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  S* const end = reinterpret_cast<S*>(static_cast<char*>(memory) + page);
  for (std::int64_t count = 0; count <= kLanes<T>; ++count) {
    for (std::int64_t k = 0; k < count; ++k) end[k - count] = S(static_cast<float>(k + 1));
    std::vector<T> lanes(static_cast<std::size_t>(kLanes<T>));
    const Vector<T> part = load_part(d, end - count, count);
    store(d, part, lanes.data());
    for (std::int64_t k = 0; k < kLanes<T>; ++k) {
      EXPECT_EQ(lanes[static_cast<std::size_t>(k)], k < count ? static_cast<T>(k + 1) : 0);
    }
    std::fill(end - 2 * kLanes<T>, end, S(9.0f));
    store_part(d, part, end - count, count);
    EXPECT_EQ(wide(end[-count - 1]), 9);
    for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ(wide(end[k - count]), static_cast<T>(k + 1));
  }
  munmap(memory, 2 * page);
}

void expect_all_parts_stay_inside() {
  expect_parts_stay_inside<float>();
  expect_parts_stay_inside<double>();
  expect_parts_stay_inside<Half>();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
namespace {

class EveryPath : public TestOnAPath {};

void tiles_on(Path path) { BACKGAUGE_ON(path, expect_all_tiles()); }
void conversions_on(Path path) { BACKGAUGE_ON(path, expect_conversions()); }
void streams_on(Path path) { BACKGAUGE_ON(path, expect_all_streams()); }
void transposed_on(Path path) { BACKGAUGE_ON(path, expect_all_transposed()); }
void parts_on(Path path) { BACKGAUGE_ON(path, expect_all_parts_stay_inside()); }

TEST_P(EveryPath, TilesAreThePlainProduct) { tiles_on(GetParam()); }
TEST_P(EveryPath, OutputsMayGoPastTheCaches) { streams_on(GetParam()); }
TEST_P(EveryPath, PanelsAreTransposedRows) { transposed_on(GetParam()); }
TEST_P(EveryPath, HalfIsConvertedAsTheContractDoes) { conversions_on(GetParam()); }
TEST_P(EveryPath, PartsTouchNothingBeyond) { parts_on(GetParam()); }

INSTANTIATE_TEST_SUITE_P(, EveryPath, testing::ValuesIn(paths_of_this_architecture()), name_of_path);

}  // namespace
}  // namespace backgauge::cpu
#endif
