// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/placement.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

TEST(Placement, IsAFunctionOfTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Placement a(seed), b(seed);
    EXPECT_EQ(a.shifted(), b.shifted());
    for (std::size_t block = 0; block < 30; ++block) {
      EXPECT_EQ(a.edge(block), b.edge(block));
      EXPECT_EQ(a.distance(block), b.distance(block));
    }
  }
}

TEST(Placement, UsesBothEdgesAndEveryDistance) {
  int at_end = 0, shifted = 0;
  int distances[17] = {};
  constexpr int kSeeds = 1000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Placement placement(seed);
    shifted += placement.shifted() ? 1 : 0;
    at_end += placement.edge(3) == Edge::kEnd ? 1 : 0;
    ASSERT_LE(placement.distance(3), 15u);
    EXPECT_EQ(placement.distance(3) > 0, placement.shifted());
    ++distances[placement.distance(3)];
  }
  // Five standard deviations of a fair coin: 79.
  EXPECT_NEAR(shifted, kSeeds / 2, 79);
  EXPECT_NEAR(at_end, kSeeds / 2, 79);
  for (int distance = 1; distance <= 15; ++distance) EXPECT_GT(distances[distance], 0) << distance;
}

TEST(Placement, OppositeIsTheOtherEdgeAndTheOtherKind) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Placement placement(seed), opposite = placement.opposite();
    EXPECT_NE(placement.shifted(), opposite.shifted());
    for (std::size_t block = 0; block < 30; ++block) EXPECT_NE(placement.edge(block), opposite.edge(block));
  }
}

}  // namespace
}  // namespace backgauge
