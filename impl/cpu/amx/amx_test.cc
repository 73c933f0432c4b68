// SPDX-License-Identifier: Apache-2.0
// Pieces and products of tiles compared with double, within the bounds of amx.md, packed by the vector code of every
// path of the machine. Products are emulated, and computed by AMX on machines that have it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/amx/amx_test.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "impl/cpu/amx/multiply.h"
#include "impl/cpu/amx/pieces-inl.h"
#include "impl/cpu/machine/path.h"
#include "impl/cpu/machine/testing/paths.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

using amx::kChunk;
using amx::kDeep;
using amx::kSide;
using amx::kSums;
using amx::kTile;

inline float bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

struct SplitNumber {
  float high, middle, low;
  double sum() const { return double{high} + middle + low; }
};
inline SplitNumber split_of(float value) {
  std::vector<float> row(static_cast<std::size_t>(kDeep), value);
  std::vector<std::uint16_t> chunk(static_cast<std::size_t>(kChunk));
  split_rows(row.data(), 0, kSide, kDeep, kDeep, chunk.data());
  const auto piece = [&](std::int64_t k) { return bfloat16(chunk[static_cast<std::size_t>(k * kTile + kTile - 1)]); };
  return {piece(0), piece(1), piece(2)};
}

inline void expect_pieces_of(float value) {
  const SplitNumber pieces = split_of(value);
  if (!std::isfinite(value)) {
    EXPECT_TRUE(std::isnan(value) ? std::isnan(pieces.high) : pieces.high == value) << value;
    EXPECT_TRUE(pieces.middle == 0 && pieces.low == 0);
    return;
  }
  const double lost = std::abs(pieces.sum() - value);
  if (std::abs(value) >= 0x1p-102f || value == 0) {
    ASSERT_EQ(lost, 0) << value;
  } else {
    ASSERT_LT(lost, std::abs(value) >= 0x1p-126f ? 0x1p-133 : 0x1p-126) << value;
  }
  ASSERT_EQ(std::signbit(pieces.high), std::signbit(value));
  ASSERT_EQ(pieces.high == 0, value == 0);
  // At most half a unit of the higher piece, and half a percent more where that was truncated, next to overflow.
  ASSERT_LE(std::abs(pieces.middle), 0x1.01p-8 * std::abs(value) + 0x1p-126);
  ASSERT_LE(std::abs(pieces.low), 0x1.01p-17 * std::abs(value) + 0x1p-126);
}

inline void expect_all_pieces() {
  std::mt19937 random(1);
  for (int k = 0; k < 100000; ++k) expect_pieces_of(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  const float limits[] = {0.0f,
                          1.0f,
                          0x1.00fp0f,
                          0x1.01p0f,
                          0x1.03p0f,
                          0x1.fep127f,
                          0x1.fefffep127f,
                          0x1.ffp127f,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min(),
                          0x1.fffffcp-127f,
                          HUGE_VALF,
                          NAN,
                          std::bit_cast<float>(0x7f800001u),
                          std::bit_cast<float>(0x7fffffffu)};
  for (const float value : limits) {
    expect_pieces_of(value);
    expect_pieces_of(-value);
  }
}

// left [rows, depth] times right [depth, columns], packed, and the sums [2] of each element.
class TileProduct {
 public:
  TileProduct(std::int64_t rows, std::int64_t columns, std::int64_t depth, const std::vector<float>& left,
              const std::vector<float>& right)
      : rows_((rows + kSide - 1) / kSide),
        columns_((columns + kSide - 1) / kSide),
        chunks_((depth + kDeep - 1) / kDeep),
        left_(static_cast<std::size_t>(rows_ * chunks_ * kChunk)),
        right_(static_cast<std::size_t>(columns_ * chunks_ * kChunk)),
        sums_(static_cast<std::size_t>(rows_ * columns_ * kSums)) {
    std::vector<float> exchanged(right.size());
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t c = 0; c < columns; ++c) {
        exchanged[static_cast<std::size_t>(c * depth + k)] = right[static_cast<std::size_t>(k * columns + c)];
      }
    }
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::int64_t k = chunk * kDeep, deep = std::min(kDeep, depth - k);
      for (std::int64_t block = 0; block < rows_; ++block) {
        split_rows(left.data() + block * kSide * depth + k, depth, std::min(kSide, rows - block * kSide), deep, kDeep,
                   left_.data() + (block * chunks_ + chunk) * kChunk);
      }
      for (std::int64_t block = 0; block < columns_; ++block) {
        const std::int64_t column = block * kSide, live = std::min(kSide, columns - column);
        std::uint16_t* to = right_.data() + (block * chunks_ + chunk) * kChunk;
        split_columns([&](std::int64_t row) HWY_ATTR { return right.data() + (k + row) * columns + column; }, live,
                      deep, to);
        std::vector<std::uint16_t> other(static_cast<std::size_t>(kChunk));
        split_rows_transposed(exchanged.data() + column * depth + k, depth, live, deep, other.data());
        EXPECT_TRUE(std::equal(other.begin(), other.end(), to));
      }
    }
  }

  void multiply(Products products) {
    const amx::ConfiguredTiles tiles(products);
    amx::BlockProduct product{left_.data(), right_.data(), chunks_ * kChunk, chunks_ * kChunk, rows_, columns_, 1,
                              sums_.data(), false};
    // In two parts of the depth.
    product.chunks = (chunks_ + 1) / 2;
    amx::multiply(products, product);
    product.left += product.chunks * kChunk;
    product.right += product.chunks * kChunk;
    product.chunks = chunks_ - product.chunks;
    product.add = true;
    amx::multiply(products, product);
  }
  void multiply_plainly() {
    for (std::int64_t block = 0; block < rows_ * columns_; ++block) {
      float* to = sums_.data() + block * kSums;
      amx::multiply_plainly(left_.data() + block / columns_ * chunks_ * kChunk,
                            right_.data() + block % columns_ * chunks_ * kChunk, chunks_, to);
      std::fill_n(to + kSums / 2, kSums / 2, 0.0f);
    }
  }
  float at(std::int64_t row, std::int64_t column) const {
    const std::int64_t block = row / kSide * columns_ + column / kSide;
    const auto k = static_cast<std::size_t>(block * kSums + row % kSide * kSide + column % kSide);
    return sums_[k] + sums_[k + static_cast<std::size_t>(kSums / 2)];
  }
  std::int64_t chunks() const { return chunks_; }

 private:
  std::int64_t rows_, columns_, chunks_;
  std::vector<std::uint16_t> left_, right_;
  std::vector<float> sums_;
};

// Elements of a value within `spread` binades of 2^-`scale`, one in `every` of them not zero.
inline std::vector<float> numbers(std::int64_t count, int spread, int scale, int every, std::mt19937& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    const float mantissa = 1 + static_cast<float>(random() >> 8) * 0x1p-24f;
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread - scale;
    const bool negative = random() % 2 == 0, zero = random() % static_cast<unsigned>(every) != 0;
    value = zero ? 0.0f : std::ldexp(negative ? -mantissa : mantissa, exponent);
  }
  return values;
}

// The largest error, relative to the bound of amx.md and to that of the judge.
struct Ratios {
  double derived = 0, judged = 0;
};
inline Ratios ratios(const TileProduct& product, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                     const std::vector<float>& left, const std::vector<float>& right) {
  constexpr double u = 0x1p-24, kLeastNormal = 0x1p-126;
  Ratios worst;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      long double want = 0;
      double size = 0, terms = 0, widest_left = 0, widest_right = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const double x = left[static_cast<std::size_t>(r * depth + k)],
                     y = right[static_cast<std::size_t>(k * columns + c)];
        want += static_cast<long double>(x) * y;
        size += std::abs(x * y);
        terms += x * y != 0;
        widest_left = std::max(widest_left, std::abs(x));
        widest_right = std::max(widest_right, std::abs(y));
      }
      const double error = static_cast<double>(std::abs(want - product.at(r, c)));
      const double chunks = static_cast<double>(product.chunks());
      const double roundings = 17 + chunks + (16 + 5 * chunks) / 126;
      const double lost = 2 * terms * kLeastNormal * (1 + widest_left + widest_right);
      const double gamma = (terms + 1) * u / (1 - (terms + 1) * u);
      if (terms == 0) {
        EXPECT_EQ(error, 0);
        continue;
      }
      worst.derived = std::max(worst.derived, error / (roundings * u * size + lost));
      worst.judged = std::max(worst.judged, error / (gamma * size + lost));
    }
  }
  return worst;
}

// The emulation rounds as the instruction does.
inline void expect_bits_of_emulation(const TileProduct& product, std::int64_t rows, std::int64_t columns) {
  TileProduct emulated = product;
  emulated.multiply(Products::kAmxEmulated);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(product.at(r, c)), std::bit_cast<std::uint32_t>(emulated.at(r, c)));
    }
  }
}

inline void expect_products(Products products) {
  struct Kind {
    const char* name;
    int spread, scale, every;
  };
  const Kind kinds[] = {{"one binade", 0, 0, 1}, {"wide", 30, 0, 1},      {"small", 2, 60, 1},
                        {"underflow", 4, 63, 1}, {"subnormal", 8, 66, 1}, {"sparse", 2, 0, 40}};
  const std::int64_t sizes[][3] = {{1, 1, 1},    {1, 16, 2},    {16, 64, 32},  {13, 63, 33}, {16, 48, 100},
                                   {7, 20, 700}, {32, 32, 300}, {29, 31, 257}, {17, 9, 64},  {3, 50, 31}};
  std::mt19937 random(7);
  for (const Kind& kind : kinds) {
    Ratios worst;
    for (const auto& [rows, columns, depth] : sizes) {
      const std::vector<float> left = numbers(rows * depth, kind.spread, kind.scale, kind.every, random),
                               right = numbers(depth * columns, kind.spread, kind.scale, kind.every, random);
      TileProduct product(rows, columns, depth, left, right);
      product.multiply(products);
      if (products != Products::kAmxEmulated) expect_bits_of_emulation(product, rows, columns);
      const Ratios seen = ratios(product, rows, columns, depth, left, right);
      worst.derived = std::max(worst.derived, seen.derived);
      worst.judged = std::max(worst.judged, seen.judged);
    }
    EXPECT_LE(worst.derived, 1) << kind.name;
    EXPECT_LE(worst.judged, 1) << kind.name;
    EXPECT_GT(worst.judged, 1e-4) << kind.name << ": nothing was rounded";
    std::printf("%s: %.3f of the derived bound, %.3f of the judge's\n", kind.name, worst.derived, worst.judged);
  }
}

inline void expect_emulated_products() { expect_products(Products::kAmxEmulated); }
inline void expect_products_of_amx() { expect_products(Products::kAmx); }

// Values that are not finite, or overflow in a piece, are not finite in tiles; plain arithmetic on the pieces then
// gives the result that any order of summation gives.
inline void expect_values_that_are_not_finite() {
  constexpr float kInfinity = HUGE_VALF;
  struct Case {
    float left, right, other_left, other_right, want;
  };
  const Case cases[] = {{kInfinity, 2, 1, 1, kInfinity},
                        {-kInfinity, 0x1.00fp0f, 1, 1, -kInfinity},  // whose pieces have both signs
                        {3, -kInfinity, 1, 1, -kInfinity},
                        {kInfinity, 0x1p-149f, 1, 1, kInfinity},
                        {0x1p-140f, kInfinity, 1, 1, kInfinity},
                        {kInfinity, 1, kInfinity, -1, NAN},
                        {kInfinity, 0, 1, 1, NAN},
                        {NAN, 0, 1, 1, NAN},
                        {std::bit_cast<float>(0x7fffffffu), 1, 1, 1, NAN},
                        {0x1.fffffep127f, 1, 1, 1, 0x1.fffffep127f},
                        {0x1.ffp64f, 0x1.003p63f, 0, 0, 0x1.ff5fdp127f}};
  for (const Case& one : cases) {
    TileProduct product(1, 1, 2, {one.left, one.other_left}, {one.right, one.other_right});
    product.multiply(Products::kAmxEmulated);
    const float in_tiles = product.at(0, 0);
    if (std::isfinite(in_tiles)) {
      EXPECT_EQ(in_tiles, one.want);
    }
    product.multiply_plainly();
    const float plain = product.at(0, 0);
    EXPECT_TRUE(std::isnan(one.want) ? std::isnan(plain) && std::isnan(in_tiles) : plain == one.want)
        << one.left << " * " << one.right << " = " << plain;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
namespace {

class AmxOnEveryPath : public TestOnAPath {
 protected:
  void SetUp() override {
    TestOnAPath::SetUp();
    if (IsSkipped()) return;
    const std::string lacks(missing(Products::kAmxEmulated));
    if (!lacks.empty()) GTEST_SKIP() << lacks;
  }
};

void pieces_on([[maybe_unused]] Path path) { BACKGAUGE_ON(path, expect_all_pieces()); }
void emulated_on([[maybe_unused]] Path path) { BACKGAUGE_ON(path, expect_emulated_products()); }
void amx_on([[maybe_unused]] Path path) { BACKGAUGE_ON(path, expect_products_of_amx()); }
void not_finite_on([[maybe_unused]] Path path) { BACKGAUGE_ON(path, expect_values_that_are_not_finite()); }

TEST_P(AmxOnEveryPath, NumbersAreTheSumOfTheirPieces) { pieces_on(GetParam()); }
TEST_P(AmxOnEveryPath, EmulatedProductsAreWithinTheBound) { emulated_on(GetParam()); }
TEST_P(AmxOnEveryPath, ProductsAreWithinTheBound) {
  const std::string lacks(missing(Products::kAmx));
  if (!lacks.empty()) GTEST_SKIP() << lacks;
  amx_on(GetParam());
}
TEST_P(AmxOnEveryPath, WhatIsNotFiniteIsMadePlainly) { not_finite_on(GetParam()); }

INSTANTIATE_TEST_SUITE_P(, AmxOnEveryPath, testing::ValuesIn(paths_of_this_architecture()), name_of_path);

TEST(Amx, IsUsedWhereItIsExpectedToPay) {
  const auto streamed = [](std::int64_t rows, std::int64_t state) {
    return amx::ProductSize{rows, state, 4 * state, true};
  };
  const auto large = [](std::int64_t rows, std::int64_t state) {
    return amx::ProductSize{rows, state, 4 * state, false};
  };
  for (const Products products : {Products::kAmx, Products::kAmxAlways, Products::kAmxEmulated}) {
    EXPECT_FALSE(amx::pays(products, streamed(1, 256)));
    EXPECT_TRUE(amx::pays(products, streamed(64, 512)));
    EXPECT_TRUE(amx::pays(products, large(400, 512)));
  }
  EXPECT_FALSE(amx::pays(Products::kVectors, large(400, 512)));
  EXPECT_TRUE(amx::pays(Products::kAmx, streamed(16, 128)));    // weights in L2
  EXPECT_FALSE(amx::pays(Products::kAmx, streamed(16, 1024)));  // weights in L3: 6 bytes per weight instead of 4
  EXPECT_FALSE(amx::pays(Products::kAmx, large(1, 512)));
  EXPECT_FALSE(amx::pays(Products::kAmx, large(100, 8)));
  EXPECT_TRUE(amx::pays(Products::kAmxAlways, streamed(2, 3)));
  EXPECT_TRUE(amx::pays(Products::kAmxEmulated, streamed(2, 3)));
}

}  // namespace
}  // namespace backgauge::cpu
#endif
