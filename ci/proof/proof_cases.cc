// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/proof_cases.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "properties/campaign/plan/campaign.h"
#include "properties/saboteurs/effort.h"

namespace backgauge::cli {
namespace {

// A tier has its cases of bfloat16 at its end, because few implementations claim them, and has 65,537 rows once. What
// is wrong only there would be judged on thousands of cases that cannot show it.
std::vector<Case> spread(const std::vector<Case>& cases) {
  const auto kind_of = [](const Case& c) {
    return std::pair(c.dtype, std::bit_width(static_cast<std::uint64_t>(std::max({c.T, c.B, c.I, c.H, c.layers}))));
  };
  std::map<decltype(kind_of(Case{})), double> count, seen;
  for (const Case& c : cases) ++count[kind_of(c)];
  std::vector<std::pair<double, const Case*>> places;
  for (const Case& c : cases) places.emplace_back(seen[kind_of(c)]++ / count[kind_of(c)], &c);
  std::ranges::stable_sort(places, {}, &std::pair<double, const Case*>::first);
  std::vector<Case> out;
  for (const auto& [place, c] : places) out.push_back(*c);
  return out;
}

bool is_small(const Case& c) {
  return saboteurs::multiplications(c.op, extents_of(c)) <= saboteurs::kFewMultiplications;
}

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
