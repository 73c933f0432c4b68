// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace backgauge {
namespace {

// Known answers of the authors' reference implementation (Random123, kat_vectors).
TEST(Philox, GivesThePublishedBlocks) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Fnv1a, GivesThePublishedHashes) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

constexpr int kDraws = 200000;

// Limits are five standard deviations of the estimate: of a mean 1 / sqrt(n), of a variance sqrt(2 / n).
TEST(RandomStream, NormalHasMeanZeroAndVarianceOneAndIsNeverZero) {
  const RandomStream stream(7, "w");
  double sum = 0, squares = 0, largest = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double z = stream.normal(k);
    ASSERT_NE(z, 0);
    sum += z;
    squares += z * z;
    largest = std::max(largest, std::fabs(z));
  }
  EXPECT_LT(std::fabs(sum / kDraws), 5 / std::sqrt(kDraws));
  EXPECT_LT(std::fabs(squares / kDraws - 1), 5 * std::sqrt(2.0 / kDraws));
  EXPECT_GT(largest, 3.5);
  EXPECT_LT(largest, 4.59);
}

TEST(RandomStream, UniformFillsTheOpenInterval) {
  const RandomStream stream(7, "i");
  double sum = 0, least = 1, largest = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double u = stream.uniform(k);
    sum += u;
    least = std::min(least, u);
    largest = std::max(largest, u);
  }
  EXPECT_LT(std::fabs(sum / kDraws - 0.5), 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_GT(least, 0);
  EXPECT_LT(largest, 1);
  EXPECT_LT(least, 1e-3);
  EXPECT_GT(largest, 1 - 1e-3);
}

TEST(RandomStream, ChoiceAndSignAreEven) {
  const RandomStream stream(7, "choice");
  int counts[6] = {}, positive = 0;
  for (int k = 0; k < kDraws; ++k) {
    const std::int64_t chosen = stream.choice(k, 6);
    ASSERT_TRUE(chosen >= 0 && chosen < 6);
    ++counts[chosen];
    positive += stream.sign(k) > 0;
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6.0, 5 * std::sqrt(kDraws * 5.0 / 36));
  EXPECT_NEAR(positive, kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0));
}

TEST(RandomStream, SeedNameAndIndexEachChangeTheValue) {
  const std::uint64_t bits = RandomStream(7, "w").bits(3);
  EXPECT_EQ(RandomStream(7, "w").bits(3), bits);
  EXPECT_NE(RandomStream(8, "w").bits(3), bits);
  EXPECT_NE(RandomStream(7 | std::uint64_t{1} << 40, "w").bits(3), bits);
  EXPECT_NE(RandomStream(7, "b").bits(3), bits);
  EXPECT_NE(RandomStream(7, "w").bits(4), bits);
  EXPECT_NE(RandomStream(7, "w").bits(3 | std::int64_t{1} << 40), bits);
}

}  // namespace
}  // namespace backgauge
