// SPDX-License-Identifier: Apache-2.0
// Covering arrays: few rows in which every legal combination of `strength` values of different factors occurs.
#pragma once

#include <functional>
#include <vector>

namespace backgauge {

// One value per factor, as an index; kUnset where none is chosen yet.
using Row = std::vector<int>;
inline constexpr int kUnset = -1;

// The number of values of each factor, and which rows are legal. `legal` is also called with rows that have unset
// values. It must accept such a row if it can be completed to a legal one, and may accept others.
struct Factors {
  std::vector<int> sizes;
  std::function<bool(const Row&)> legal;
};

// Every choice of `strength` values of different factors that occurs in a legal row, as rows with the others unset.
std::vector<Row> legal_combinations(const Factors& factors, int strength);

// Complete legal rows such that each legal combination occurs in one of them. Deterministic and greedy: each row starts
// with the first combination that is still missing, and takes, factor by factor, the value that adds most combinations.
std::vector<Row> covering_array(const Factors& factors, int strength);

// Whether `row` has every value that is set in `part`.
bool is_part_of(const Row& part, const Row& row);

}  // namespace backgauge
