// SPDX-License-Identifier: Apache-2.0
// Covering arrays: few rows in which every legal combination of `strength` values of different factors occurs.
#pragma once

#include <functional>
#include <vector>

namespace backgauge {

// One value per factor, as an index; kUnset where none is chosen yet.
using Row = std::vector<int>;
inline constexpr int kUnset = -1;

// Factors by their number of values, and which rows are legal. `legal` is asked about rows with unset values too and
// must not refuse one of them that could still be completed to a legal row; that it accepts one proves nothing.
struct Factors {
  std::vector<int> sizes;
  std::function<bool(const Row&)> legal;
};

// Every choice of `strength` values of different factors that some legal row holds: rows with the others unset.
std::vector<Row> legal_combinations(const Factors& factors, int strength);

// Legal rows, all values set, of which each legal combination is part of one. Deterministic, greedy: each row begins
// with the first combination that is still missing and takes, factor by factor, the value that adds most.
std::vector<Row> covering_array(const Factors& factors, int strength);

// Whether all values set in `part` are those of `row`.
bool is_part_of(const Row& part, const Row& row);

}  // namespace backgauge
