// SPDX-License-Identifier: Apache-2.0
// Roundings against the definition: the nearest of all values of the format, ties to the even one.
#include "reference/contract/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reference/contract/narrow.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct HalfFormat {
  using Narrow = Half;
  static constexpr int kMantissaBits = 10, kLeastExponent = -14, kEndExponent = 16;
  static float widened(std::uint16_t bits) { return backgauge_half_to_float(bits); }
  static std::uint16_t rounded(float value) { return backgauge_float_to_half(value); }
};

struct Bfloat16Format {
  using Narrow = Bfloat16;
  static constexpr int kMantissaBits = 7, kLeastExponent = -126, kEndExponent = 128;
  static float widened(std::uint16_t bits) { return backgauge_bfloat16_to_float(bits); }
  static std::uint16_t rounded(float value) { return backgauge_float_to_bfloat16(value); }
};

template <class Format>
class NarrowFormat : public testing::Test {
 protected:
  static constexpr std::uint16_t kInfinityBits =
      static_cast<std::uint16_t>(Format::kEndExponent - Format::kLeastExponent + 1) << Format::kMantissaBits;

  // The value from its fields; infinity has the next value of the grid.
  static long double grid_value(std::uint16_t magnitude) {
    constexpr int kBits = Format::kMantissaBits;
    const int exponent = magnitude >> kBits, unit = 1 << kBits;
    const long double mantissa = magnitude & (unit - 1);
    return exponent == 0 ? std::ldexp(mantissa, Format::kLeastExponent - kBits)
                         : std::ldexp(unit + mantissa, exponent - 1 + Format::kLeastExponent - kBits);
  }

  static const std::vector<long double>& grid() {
    static const auto values = [] {
      std::vector<long double> result;
      for (std::uint32_t k = 0; k <= kInfinityBits; ++k) result.push_back(grid_value(static_cast<std::uint16_t>(k)));
      return result;
    }();
    return values;
  }

  static std::uint16_t nearest(long double value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const long double magnitude = std::fabs(value);
    if (magnitude >= grid().back()) return sign | kInfinityBits;
    const auto above = static_cast<std::uint16_t>(std::ranges::upper_bound(grid(), magnitude) - grid().begin());
    const auto below = static_cast<std::uint16_t>(above - 1);
    const long double up = grid()[above] - magnitude, down = magnitude - grid()[below];
    const bool take_above = up < down || (up == down && above % 2 == 0);
    return static_cast<std::uint16_t>(sign | (take_above ? above : below));
  }

  static std::uint16_t rounded(double value) { return narrowed<typename Format::Narrow>(value).bits; }
};
using Formats = testing::Types<HalfFormat, Bfloat16Format>;
TYPED_TEST_SUITE(NarrowFormat, Formats);

TYPED_TEST(NarrowFormat, EveryNumberHasItsValueAndComesBack) {
  for (std::uint32_t all = 0; all <= 0xffff; ++all) {
    const auto bits = static_cast<std::uint16_t>(all);
    const std::uint16_t magnitude = bits & 0x7fff;
    const float value = TypeParam::widened(bits);
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << all;
    if (magnitude > this->kInfinityBits) {
      ASSERT_TRUE(std::isnan(value)) << all;
      ASSERT_GT(TypeParam::rounded(value) & 0x7fff, this->kInfinityBits) << all;
      ASSERT_GT(this->rounded(value) & 0x7fff, this->kInfinityBits) << all;
      continue;
    }
    if (magnitude == this->kInfinityBits) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(std::fabs(value), this->grid_value(magnitude)) << all;
    }
    ASSERT_EQ(TypeParam::rounded(value), bits) << all;
    ASSERT_EQ(this->rounded(value), bits) << all;
    ASSERT_EQ(static_cast<double>(typename TypeParam::Narrow(value)), value) << all;
  }
}

TYPED_TEST(NarrowFormat, RoundsAroundEveryTie) {
  for (std::uint16_t below = 0; below < this->kInfinityBits; ++below) {
    const auto tie = static_cast<float>((this->grid()[below] + this->grid()[below + 1]) / 2);
    for (const float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e38f)}) {
      for (const float signed_value : {value, -value}) {
        ASSERT_EQ(TypeParam::rounded(signed_value), this->nearest(signed_value)) << signed_value;
        ASSERT_EQ(this->rounded(signed_value), this->nearest(signed_value)) << signed_value;
      }
    }
  }
}

TYPED_TEST(NarrowFormat, DoublesNextToATieAreNotRoundedTwice) {
  for (std::uint16_t below = 0; below < this->kInfinityBits; ++below) {
    const auto tie = static_cast<double>((this->grid()[below] + this->grid()[below + 1]) / 2);
    // From one unit of the double to just below the distance that float can distinguish from the tie.
    for (const double distance : {0x1p-52, 0x1p-40, 0x1p-26, 0x1p-24}) {
      for (const double value : {tie * (1 - distance), tie * (1 + distance)}) {
        ASSERT_EQ(this->rounded(value), this->nearest(value)) << value;
        ASSERT_EQ(this->rounded(-value), this->nearest(-value)) << value;
      }
    }
  }
}

TEST(Half, ADoubleThatRoundingTwiceGetsWrong) {
  const double value = 1 + 0x1p-11 + 0x1p-40;  // as a float it is the tie 1 + 2^-11, which goes to 1
  EXPECT_EQ(backgauge_float_to_half(static_cast<float>(value)), 0x3c00);
  EXPECT_EQ(narrowed<Half>(value).bits, 0x3c01);
  EXPECT_EQ(narrowed<Half>(1 + 3 * 0x1p-11 - 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(narrowed<Half>(0x1p-25).bits, 0);
  EXPECT_EQ(narrowed<Half>(0x1p-25 * (1 + 0x1p-52)).bits, 1);
  EXPECT_EQ(narrowed<Half>(65520 * (1 - 0x1p-53)).bits, 0x7bff);
  EXPECT_EQ(narrowed<Half>(65520).bits, 0x7c00);
}

TEST(Bfloat16, ADoubleThatRoundingTwiceGetsWrong) {
  const double value = 1 + 0x1p-8 + 0x1p-40;  // as a float it is the tie 1 + 2^-8, which goes to 1
  EXPECT_EQ(backgauge_float_to_bfloat16(static_cast<float>(value)), 0x3f80);
  EXPECT_EQ(narrowed<Bfloat16>(value).bits, 0x3f81);
  EXPECT_EQ(narrowed<Bfloat16>(0x1.ffp127 * (1 - 0x1p-53)).bits, 0x7f7f);
  EXPECT_EQ(narrowed<Bfloat16>(0x1.ffp127).bits, 0x7f80);
  EXPECT_EQ(narrowed<Bfloat16>(-1e300).bits, 0xff80);
}

TYPED_TEST(NarrowFormat, RoundsFloatsOfEveryExponent) {
  // 4099 is prime: every exponent with some 2000 mantissas, none of them in step.
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) {
      ASSERT_GT(TypeParam::rounded(value) & 0x7fff, this->kInfinityBits);
    } else {
      ASSERT_EQ(TypeParam::rounded(value), this->nearest(value)) << value;
    }
  }
}

TYPED_TEST(NarrowFormat, RoundsDoublesOfEverySize) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t kRange = TypeParam::kEndExponent - TypeParam::kLeastExponent + 19;
  for (int k = 0; k < 500000; ++k) {
    const std::uint64_t bits = random();
    // All exponents of the format, and some on either side.
    const std::uint64_t exponent = 1023 + TypeParam::kLeastExponent - 16 + random() % kRange;
    const auto value = std::bit_cast<double>((bits & 0x800fffffffffffffu) | (exponent << 52));
    ASSERT_EQ(this->rounded(value), this->nearest(value)) << value;
  }
  for (const double value : {0.0, -0.0, 1e-320, -1e-320, 1e300, -1e300, kInfinity, -kInfinity, 3e-39, -3e-39}) {
    ASSERT_EQ(this->rounded(value), this->nearest(value)) << value;
  }
}

TEST(Storage, DecodeUndoesEncodeAtAnyAlignment) {
  for (const auto dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_INT64, BACKGAUGE_BFLOAT16}) {
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
  std::uint16_t half = 0, bfloat16 = 0;
  float single = 0;
  double wide = 0;
  std::int64_t whole = 0;
  encode(BACKGAUGE_HALF, value, &half);
  encode(BACKGAUGE_BFLOAT16, value, &bfloat16);
  encode(BACKGAUGE_FLOAT32, value, &single);
  encode(BACKGAUGE_FLOAT64, value, &wide);
  const double large[] = {0x1p53 - 1};
  encode(BACKGAUGE_INT64, large, &whole);
  EXPECT_EQ(half, 0x3e00);
  EXPECT_EQ(bfloat16, 0x3fc0);
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
