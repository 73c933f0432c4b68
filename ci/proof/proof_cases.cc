// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/proof_cases.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "properties/campaign/plan/campaign.h"
#include "properties/saboteurs/effort.h"

namespace backgauge::cli {
namespace {

double multiplications(const Case& c) { return saboteurs::multiplications(c.op, extents_of(c)); }

// A tier has its cases of bfloat16 at its end, because few implementations claim them, and has 65,537 rows once. What
// is wrong only there would be judged on thousands of cases that cannot show it. So the first case of every kind comes
// first, the quick ones before the slow ones. A power of two is of the kind of what is below: 65,536 rows do not show
// what is wrong from 65,537 on.
std::vector<Case> spread(const std::vector<Case>& cases) {
  const auto kind_of = [](const Case& c) {
    const std::int64_t largest = std::max({c.T, c.B, c.I, c.H, c.layers, std::int64_t{1}});
    return std::pair(c.dtype, std::bit_width(static_cast<std::uint64_t>(largest - 1)));
  };
  std::map<decltype(kind_of(Case{})), double> count, seen;
  for (const Case& c : cases) ++count[kind_of(c)];
  std::vector<std::tuple<double, double, const Case*>> places;
  for (const Case& c : cases) places.emplace_back(seen[kind_of(c)]++ / count[kind_of(c)], multiplications(c), &c);
  const auto by = [](const auto& each) { return std::pair(std::get<0>(each), std::get<1>(each)); };
  std::ranges::stable_sort(places, {}, by);
  std::vector<Case> out;
  for (const auto& [place, effort, c] : places) out.push_back(*c);
  return out;
}

bool is_small(const Case& c) { return multiplications(c) <= saboteurs::kFewMultiplications; }

}  // namespace

std::vector<Case> proof_cases(backgauge_op op, std::uint64_t seed, std::size_t small) {
  std::vector<Case> cases = spread(plan({.tier = Tier::kCi, .seed = seed, .ops = {op}}));
  std::ranges::stable_partition(cases, [&](const Case& c) {
    if (small == 0 || !is_small(c)) return false;
    --small;
    return true;
  });
  return cases;
}

}  // namespace backgauge::cli
