// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/covering.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace backgauge {
namespace {

// Sets the unset values from `factor` on; false if no legal row results.
bool complete(const Factors& factors, Row& row, std::size_t factor) {
  if (!factors.legal(row)) return false;
  while (factor < row.size() && row[factor] != kUnset) ++factor;
  if (factor == row.size()) return true;
  for (row[factor] = 0; row[factor] < factors.sizes[factor]; ++row[factor]) {
    if (complete(factors, row, factor + 1)) return true;
  }
  row[factor] = kUnset;
  return false;
}

bool can_be_completed(const Factors& factors, Row row) { return complete(factors, row, 0); }

// Calls visit(combination) for every set of `count` factors from `first` on and all of their values.
template <class Visit>
void for_combinations(const Factors& factors, int count, std::size_t first, Row& row, const Visit& visit) {
  if (count == 0) return visit(row);
  for (std::size_t factor = first; factor < row.size(); ++factor) {
    for (row[factor] = 0; row[factor] < factors.sizes[factor]; ++row[factor]) {
      for_combinations(factors, count - 1, factor + 1, row, visit);
    }
    row[factor] = kUnset;
  }
}

// Calls visit(key) for every combination that is part of `row` and holds its value of `factor`.
class Parts {
 public:
  explicit Parts(const Factors& factors) {
    for (const int size : factors.sizes) radix_ = std::max<std::uint64_t>(radix_, static_cast<std::uint64_t>(size) + 1);
  }
  std::uint64_t key(const Row& row) const {
    std::uint64_t key = 0;
    for (const int value : row) key = key * radix_ + static_cast<std::uint64_t>(value + 1);
    return key;
  }
  template <class Visit>
  void visit(const Row& row, std::size_t factor, int strength, const Visit& visit) const {
    Row part(row.size(), kUnset);
    part[factor] = row[factor];
    choose(row, factor, strength - 1, 0, part, visit);
  }

 private:
  template <class Visit>
  void choose(const Row& row, std::size_t factor, int count, std::size_t first, Row& part, const Visit& visit) const {
    if (count == 0) return visit(key(part));
    for (std::size_t other = first; other < row.size(); ++other) {
      if (other == factor || row[other] == kUnset) continue;
      part[other] = row[other];
      choose(row, factor, count - 1, other + 1, part, visit);
      part[other] = kUnset;
    }
  }

  std::uint64_t radix_ = 1;
};

}  // namespace

std::vector<Row> legal_combinations(const Factors& factors, int strength) {
  std::vector<Row> out;
  Row row(factors.sizes.size(), kUnset);
  for_combinations(factors, strength, 0, row, [&](const Row& combination) {
    if (can_be_completed(factors, combination)) out.push_back(combination);
  });
  return out;
}

bool is_part_of(const Row& part, const Row& row) {
  for (std::size_t factor = 0; factor < part.size(); ++factor) {
    if (part[factor] != kUnset && part[factor] != row[factor]) return false;
  }
  return true;
}

std::vector<Row> covering_array(const Factors& factors, int strength) {
  const std::vector<Row> combinations = legal_combinations(factors, strength);
  const Parts parts(factors);
  std::unordered_set<std::uint64_t> missing;
  for (const Row& combination : combinations) missing.insert(parts.key(combination));

  std::vector<Row> rows;
  for (const Row& first : combinations) {
    if (!missing.contains(parts.key(first))) continue;
    Row row = first;
    for (std::size_t factor = 0; factor < row.size(); ++factor) {
      if (row[factor] != kUnset) continue;
      int best = kUnset, most = -1;
      // Starts at another value in every row, so that values that add equally little take turns.
      for (int k = 0; k < factors.sizes[factor]; ++k) {
        row[factor] = static_cast<int>((static_cast<std::size_t>(k) + rows.size()) %
                                       static_cast<std::size_t>(factors.sizes[factor]));
        int added = 0;
        parts.visit(row, factor, strength, [&](std::uint64_t key) { added += missing.contains(key) ? 1 : 0; });
        if (added > most && can_be_completed(factors, row)) {
          most = added;
          best = row[factor];
        }
      }
      row[factor] = best;
    }
    for (std::size_t factor = 0; factor < row.size(); ++factor) {
      parts.visit(row, factor, strength, [&](std::uint64_t key) { missing.erase(key); });
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace backgauge
