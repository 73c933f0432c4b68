// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the host backend, and the two parts of tf32 that an operand is split into.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "impl/cuda/device/host/multiply.h"
#include "impl/cuda/device/plain_product.h"
#include "impl/cuda/device/testing/error_of.h"
#include "impl/cuda/device/work.h"
#include "impl/cuda/operand.h"

namespace backgauge::cuda {
namespace {

// Small integers: exact in every type and order.
template <class Storage, class Result>
void expect_product(bool a_transposed, bool b_transposed, bool added) {
  constexpr std::int64_t kRows = 3, kColumns = 5, kDepth = 4, kGap = 2;
  const auto number = [](std::int64_t row, std::int64_t column) {
    return static_cast<float>((row * 5 + column * 3) % 7 - 3);
  };
  const auto filled = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    std::vector<Storage> out(
        static_cast<std::size_t>((transposed ? columns : rows) * ((transposed ? rows : columns) + kGap)),
        narrow<Storage>(NAN));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t place = transposed ? column * (rows + kGap) + row : row * (columns + kGap) + column;
        out[static_cast<std::size_t>(place)] = narrow<Storage>(number(row, column));
      }
    }
    return out;
  };
  const std::vector<Storage> a = filled(kRows, kDepth, a_transposed), b = filled(kDepth, kColumns, b_transposed);
  const Product product{.rows = kRows,
                        .columns = kColumns,
                        .depth = kDepth,
                        .operands = kType<Storage>,
                        .result = kType<Result>,
                        .a_transposed = a_transposed,
                        .b_transposed = b_transposed,
                        .added = added,
                        .a_stride = (a_transposed ? kRows : kDepth) + kGap,
                        .b_stride = (b_transposed ? kDepth : kColumns) + kGap,
                        .result_stride = kColumns + kGap};
  for (const bool by_kernel : {false, true}) {
    std::vector<Result> result(kRows * (kColumns + kGap), narrow<Result>(1));
    const Matrices matrices{a.data(), b.data(), result.data()};
    if (by_kernel) {
      with_plain_product(product, matrices,
                         [](std::int64_t blocks, const auto& kernel) { run_blocks(blocks, kernel, false); });
    } else {
      host_multiply(product, matrices);
    }
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns + kGap; ++column) {
        float want = added || column >= kColumns ? 1 : 0;
        for (std::int64_t k = 0; k < kDepth && column < kColumns; ++k) want += number(row, k) * number(k, column);
        EXPECT_EQ(static_cast<float>(wide(result[static_cast<std::size_t>(row * (kColumns + kGap) + column)])), want);
      }
    }
  }
}

TEST(Product, IsThatOfPlainLoopsAndOfThePlainKernel) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const bool added : {false, true}) {
        expect_product<Half, Half>(a_transposed, b_transposed, added);
        expect_product<Half, float>(a_transposed, b_transposed, added);
        expect_product<float, float>(a_transposed, b_transposed, added);
        expect_product<double, double>(a_transposed, b_transposed, added);
      }
    }
  }
}

TEST(Tf32, IsTheNearestOfElevenBits) {
  EXPECT_EQ(to_tf32(1), 1);
  EXPECT_EQ(to_tf32(0x1.002p0f), 1);  // ties to even
  EXPECT_EQ(to_tf32(0x1.002002p0f), 0x1.004p0f);
  EXPECT_EQ(to_tf32(-0x1.006p0f), -0x1.008p0f);
  EXPECT_EQ(to_tf32(0x1.ffcp127f), 0x1.ffcp127f);
  EXPECT_EQ(to_tf32(0x1.ffep127f), INFINITY);
  EXPECT_EQ(to_tf32(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(to_tf32(NAN)));
  EXPECT_EQ(to_tf32(0x1p-136f), 0x1p-136f);
  EXPECT_EQ(to_tf32(0x1p-137f), 0);
}

// bounds.md 2.1
TEST(Operand, IsTwoPartsThatTf32Holds) {
  std::mt19937 random(1);
  for (int k = 0; k < 10000; ++k) {
    const float value = std::ldexp(static_cast<float>(random()) * 0x1p-31f - 1, static_cast<int>(random() % 250) - 125);
    float parts[2];
    const float x[1] = {value};
    store_operand(x, Operand<float>{parts, 1});
    EXPECT_EQ(to_tf32(parts[0]), parts[0]);
    EXPECT_EQ(to_tf32(parts[1]), parts[1]);
    EXPECT_LE(std::fabs(parts[1]), 0x1p-11f * std::fabs(value));
    const double lost = static_cast<double>(value) - static_cast<double>(parts[0]) - static_cast<double>(parts[1]);
    EXPECT_LE(std::fabs(lost), 0x1p-22 * std::fabs(static_cast<double>(value)) + 0x1p-126);
  }
}

// 1 + 2^-12 and 1 - 2^-13 in parts: sums and products are exact.
TEST(Operand, OfTwoPartsIsMultipliedThreeTimes) {
  alignas(16) const float a[8] = {1, 0, 0, 0, 0x1p-12f}, b[8] = {1, 0, 0, 0, -0x1p-13f};
  for (const bool added : {false, true}) {
    for (int run = 0; run < 2; ++run) {
      alignas(16) float result[4] = {0x1p-10f};
      const Product product{.rows = 1,
                            .columns = 1,
                            .depth = 1,
                            .added = added,
                            .a_stride = 1,
                            .b_stride = 1,
                            .result_stride = 1,
                            .aligned = true};
      Work work(nullptr, nullptr, 0);
      multiply(work.main(), product, Operand<const float>{a, 4}, Operand<const float>{b, 4}, result);
      work.finish();
      EXPECT_EQ(result[0], (added ? 0x1p-10f : 0) + 1 + 0x1p-12f - 0x1p-13f);
    }
  }
}

TEST(Product, RefusesWhatCublasLtWouldNotTakeOrTakeWrongly) {
  alignas(16) float x[8] = {};
  const Product legal{
      .rows = 1, .columns = 1, .depth = 2, .a_stride = 2, .b_stride = 1, .result_stride = 1, .aligned = true};
  EXPECT_EQ(error_of([&] { host_multiply(legal, {&x[0], &x[4], &x[0]}); }), "");
  EXPECT_EQ(error_of([&] { host_multiply(legal, {&x[1], &x[4], &x[0]}); }), "product: declared aligned and not so");
  const auto refusal = [&](auto change) {
    Product product = legal;
    change(product);
    return error_of([&] { check(product); });
  };
  EXPECT_EQ(refusal([](Product& p) { p.rows = -1; }), "product: sizes below 0");
  EXPECT_EQ(refusal([](Product& p) { p.a_stride = 1; }), "product: rows of a overlap");
  EXPECT_EQ(refusal([](Product& p) { p.b_transposed = true; }), "product: rows of b overlap");
  EXPECT_EQ(refusal([](Product& p) { p.columns = p.b_stride = 2; }), "product: rows of the result overlap");
  EXPECT_EQ(refusal([](Product& p) { p.result = Type::kHalf; }), "product: types");
}

}  // namespace
}  // namespace backgauge::cuda
