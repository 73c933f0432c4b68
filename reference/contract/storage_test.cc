// SPDX-License-Identifier: Apache-2.0
// Roundings against the definition: the nearest of all values of the format, ties to the even one.
#include "reference/contract/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reference/contract/half.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

constexpr std::uint16_t kHalfInfinity = 0x7c00;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The value of a half from its fields; infinity stands at its place in the grid, 2^16.
long double grid_value(std::uint16_t magnitude) {
  const int exponent = magnitude >> 10;
  const long double mantissa = magnitude & 0x3ff;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

const std::array<long double, kHalfInfinity + 1>& grid() {
  static const auto values = [] {
    std::array<long double, kHalfInfinity + 1> result{};
    for (std::uint16_t k = 0; k <= kHalfInfinity; ++k) result[k] = grid_value(k);
    return result;
  }();
  return values;
}

std::uint16_t nearest_half(long double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  if (magnitude >= grid().back()) return sign | kHalfInfinity;
  const auto above = static_cast<std::uint16_t>(std::ranges::upper_bound(grid(), magnitude) - grid().begin());
  const auto below = static_cast<std::uint16_t>(above - 1);
  const long double up = grid()[above] - magnitude, down = magnitude - grid()[below];
  const bool take_above = up < down || (up == down && above % 2 == 0);
  return static_cast<std::uint16_t>(sign | (take_above ? above : below));
}

TEST(Half, EveryHalfHasItsValueAndComesBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const std::uint16_t magnitude = half & 0x7fff;
    const float value = backgauge_half_to_float(half);
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << bits;
    if (magnitude > kHalfInfinity) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_GT(backgauge_float_to_half(value) & 0x7fff, kHalfInfinity) << bits;
      ASSERT_GT(half_from_double(value).bits & 0x7fff, kHalfInfinity) << bits;
      continue;
    }
    if (magnitude == kHalfInfinity) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(std::fabs(value), grid_value(magnitude)) << bits;
    }
    ASSERT_EQ(backgauge_float_to_half(value), half) << bits;
    ASSERT_EQ(half_from_double(value).bits, half) << bits;
    ASSERT_EQ(static_cast<double>(Half(value)), value) << bits;
  }
}

TEST(Half, RoundsAroundEveryTie) {
  for (std::uint16_t below = 0; below < kHalfInfinity; ++below) {
    const auto tie = static_cast<float>((grid()[below] + grid()[below + 1]) / 2);
    for (const float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e30f)}) {
      for (const float signed_value : {value, -value}) {
        ASSERT_EQ(backgauge_float_to_half(signed_value), nearest_half(signed_value)) << signed_value;
        ASSERT_EQ(half_from_double(signed_value).bits, nearest_half(signed_value)) << signed_value;
      }
    }
  }
}

TEST(Half, DoublesNextToATieAreNotRoundedTwice) {
  for (std::uint16_t below = 0; below < kHalfInfinity; ++below) {
    const auto tie = static_cast<double>((grid()[below] + grid()[below + 1]) / 2);
    // From one unit of the double to just below what a float could still tell from the tie.
    for (const double distance : {0x1p-52, 0x1p-40, 0x1p-26, 0x1p-24}) {
      for (const double value : {tie * (1 - distance), tie * (1 + distance)}) {
        ASSERT_EQ(half_from_double(value).bits, nearest_half(value)) << value;
        ASSERT_EQ(half_from_double(-value).bits, nearest_half(-value)) << value;
      }
    }
  }
}

TEST(Half, ADoubleThatRoundingTwiceGetsWrong) {
  const double value = 1 + 0x1p-11 + 0x1p-40;  // as a float it is the tie 1 + 2^-11, which goes to 1
  EXPECT_EQ(backgauge_float_to_half(static_cast<float>(value)), 0x3c00);
  EXPECT_EQ(half_from_double(value).bits, 0x3c01);
  EXPECT_EQ(half_from_double(1 + 3 * 0x1p-11 - 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(half_from_double(0x1p-25).bits, 0);
  EXPECT_EQ(half_from_double(0x1p-25 * (1 + 0x1p-52)).bits, 1);
  EXPECT_EQ(half_from_double(65520 * (1 - 0x1p-53)).bits, 0x7bff);
  EXPECT_EQ(half_from_double(65520).bits, kHalfInfinity);
}

TEST(Half, RoundsFloatsOfEveryExponent) {
  // 4099 is prime: every exponent with some 2000 mantissas, none of them in step.
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) {
      ASSERT_GT(backgauge_float_to_half(value) & 0x7fff, kHalfInfinity);
    } else {
      ASSERT_EQ(backgauge_float_to_half(value), nearest_half(value)) << value;
    }
  }
}

TEST(Half, RoundsDoublesOfEverySize) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 500000; ++k) {
    const std::uint64_t bits = random();
    // Exponents from 2^-30 to 2^18: all of half and some on either side.
    const std::uint64_t exponent = 1023 - 30 + random() % 49;
    const auto value = std::bit_cast<double>((bits & 0x800fffffffffffffu) | (exponent << 52));
    ASSERT_EQ(half_from_double(value).bits, nearest_half(value)) << value;
  }
  for (const double value : {0.0, -0.0, 1e-320, -1e-320, 1e300, -1e300, kInfinity, -kInfinity, 3e-39, -3e-39}) {
    ASSERT_EQ(half_from_double(value).bits, nearest_half(value)) << value;
  }
}

TEST(Storage, DecodeUndoesEncodeAtAnyAlignment) {
  for (const auto dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_INT64}) {
    const std::vector<double> values = {0, 1, -2, 3, 1024, -2048};
    std::vector<unsigned char> bytes(values.size() * backgauge_dtype_bytes(dtype) + 1);
    std::vector<double> back(values.size(), -1);
    encode(dtype, values, bytes.data() + 1);
    decode(dtype, bytes.data() + 1, back);
    EXPECT_EQ(back, values) << dtype;
  }
}

TEST(Storage, ElementsHaveTheBitsOfTheirType) {
  const double value[] = {1.5};
  std::uint16_t half = 0;
  float single = 0;
  double wide = 0;
  std::int64_t whole = 0;
  encode(BACKGAUGE_HALF, value, &half);
  encode(BACKGAUGE_FLOAT32, value, &single);
  encode(BACKGAUGE_FLOAT64, value, &wide);
  const double large[] = {0x1p53 - 1};
  encode(BACKGAUGE_INT64, large, &whole);
  EXPECT_EQ(half, 0x3e00);
  EXPECT_EQ(single, 1.5f);
  EXPECT_EQ(wide, 1.5);
  EXPECT_EQ(whole, (std::int64_t{1} << 53) - 1);
}

TEST(Storage, RoundsOnceToTheNearest) {
  EXPECT_EQ(round_to(BACKGAUGE_HALF, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(BACKGAUGE_HALF, 1e6), kInfinity);
  EXPECT_EQ(round_to(BACKGAUGE_FLOAT32, 1 + 0x1p-24), 1);
  EXPECT_EQ(round_to(BACKGAUGE_FLOAT32, 1 + 0x1p-24 + 0x1p-50), 1 + 0x1p-23);
  EXPECT_EQ(round_to(BACKGAUGE_FLOAT32, -0x1p-149), -0x1p-149);
  EXPECT_EQ(round_to(BACKGAUGE_FLOAT64, 0.1), 0.1);
  EXPECT_TRUE(std::isnan(round_to(BACKGAUGE_HALF, std::nan(""))));
  EXPECT_TRUE(std::isnan(round_to(BACKGAUGE_FLOAT32, std::nan(""))));
}

TEST(Storage, FormatsDescribeTheirRounding) {
  for (const auto dtype : kFloatDtypes) {
    const FloatFormat format = float_format(dtype);
    const double u = format.unit_roundoff;
    EXPECT_EQ(round_to(dtype, 1 + u), 1) << dtype;  // a tie, to even
    EXPECT_EQ(round_to(dtype, 1 + 2 * u), 1 + 2 * u) << dtype;
    EXPECT_EQ(round_to(dtype, format.largest), format.largest) << dtype;
    EXPECT_EQ(round_to(dtype, format.largest * (1 + 2 * u)), kInfinity) << dtype;
    EXPECT_EQ(round_to(dtype, format.least_positive), format.least_positive) << dtype;
    EXPECT_EQ(round_to(dtype, format.least_positive / 2), 0) << dtype;
    EXPECT_EQ(format.least_positive, format.least_normal * 2 * u) << dtype;
  }
}

}  // namespace
}  // namespace backgauge
