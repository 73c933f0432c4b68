// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/covering.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace backgauge {
namespace {

Factors free_factors(std::vector<int> sizes) {
  return {std::move(sizes), [](const Row&) { return true; }};
}

std::size_t missing(const Factors& factors, int strength, const std::vector<Row>& rows) {
  std::size_t count = 0;
  for (const Row& combination : legal_combinations(factors, strength)) {
    count += std::ranges::none_of(rows, [&](const Row& row) { return is_part_of(combination, row); }) ? 1u : 0u;
  }
  return count;
}

TEST(Covering, CountsTheCombinationsOfFreeFactors) {
  EXPECT_EQ(legal_combinations(free_factors({2, 3, 4}), 2).size(), 2u * 3 + 2 * 4 + 3 * 4);
  EXPECT_EQ(legal_combinations(free_factors({2, 3, 4}), 3).size(), 24u);
  EXPECT_EQ(legal_combinations(free_factors({5}), 1).size(), 5u);
}

TEST(Covering, EveryCombinationIsInARow) {
  const Factors factors = free_factors({3, 4, 2, 3, 3, 4, 5});
  for (const int strength : {1, 2, 3}) {
    const std::vector<Row> rows = covering_array(factors, strength);
    EXPECT_EQ(missing(factors, strength, rows), 0u) << strength;
    for (const Row& row : rows) EXPECT_EQ(std::ranges::count(row, kUnset), 0);
  }
}

// The product of the largest factors is a lower limit; the greedy choice stays within twice of it here.
TEST(Covering, RowsAreFew) {
  const Factors factors = free_factors({3, 4, 2, 3, 3, 4, 5});
  const std::size_t rows = covering_array(factors, 3).size();
  EXPECT_GE(rows, 80u);
  EXPECT_LE(rows, 160u);
}

TEST(Covering, RowsAreLegalAndWhatIsImpossibleIsNotAskedFor) {
  // The values of the first two factors differ, and 2 of the first forces 0 of the third; so 1 of the third never
  // occurs with 2 of the first, which only a completed row shows.
  const Factors factors{{3, 3, 2, 2}, [](const Row& row) {
                          if (row[0] != kUnset && row[0] == row[1]) return false;
                          if (row[0] == 2 && row[3] == 0) return false;
                          return !(row[3] == 1 && row[2] == 1 && row[0] == 2);
                        }};
  for (const Row& pair : legal_combinations(factors, 2)) EXPECT_FALSE(pair[0] == 2 && pair[2] == 1);
  const std::vector<Row> rows = covering_array(factors, 2);
  EXPECT_EQ(missing(factors, 2, rows), 0u);
  for (const Row& row : rows) EXPECT_TRUE(factors.legal(row));
}

TEST(Covering, ARowLessIsNoticed) {
  const Factors factors = free_factors({3, 4, 2, 3});
  std::vector<Row> rows = covering_array(factors, 2);
  rows.pop_back();
  EXPECT_GT(missing(factors, 2, rows), 0u);
}

}  // namespace
}  // namespace backgauge
