// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/joint_sizes.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <set>
#include <utility>

#include "properties/campaign/settings/oracle_work.h"
#include "properties/campaign/settings/size_conditions.h"
#include "properties/campaign/settings/size_mixture.h"

namespace backgauge {
namespace {

// What a case costs however small it is: two milliseconds.
constexpr double kPerCase = 0.002 * kWorkOfASecond;

// The more there are to choose from, the less the chosen ones cost: with 3,000 an eighth more than with 9,000, which
// take half a second. Those by which the legal combinations were found follow, since one of them has each for certain.
constexpr int kDrawn = 6000;

using Met = std::vector<int>;

struct Candidate {
  Case c;
  Met met;
  double cost;
};

std::vector<Candidate> candidates(backgauge_op op, const Dtypes& dtypes, Draws& draws) {
  std::vector<Case> cases;
  for (int k = 0; k < kDrawn; ++k) cases.push_back(draw_mixed_sizes(op, dtypes, draws));
  std::ranges::move(usual_mixture(op, dtypes), std::back_inserter(cases));
  std::vector<Candidate> out;
  for (Case& c : cases) {
    Met met = conditions_met(c);
    const double cost = kPerCase + oracle_work(c);
    out.push_back({std::move(c), std::move(met), cost});
  }
  return out;
}

// Greedy. What a candidate adds only becomes less, so the one that was best before it was asked again is the best if it
// still adds as much as the next.
std::vector<std::size_t> chosen(const std::vector<Candidate>& all, int strength, double share, SizeCombinations missing,
                                const std::set<Met>& had) {
  const auto most_missing = static_cast<std::int64_t>((1 - share) * static_cast<double>(missing.size()));
  for (const Met& met : had) missing.erase(met, strength);
  const auto rate = [&](std::size_t k) {
    return static_cast<double>(missing.count(all[k].met, strength)) / all[k].cost;
  };
  std::priority_queue<std::pair<double, std::size_t>> queue;
  for (std::size_t k = 0; k < all.size(); ++k) queue.emplace(rate(k), all.size() - k);
  std::vector<std::size_t> out;
  while (missing.size() > most_missing && !queue.empty()) {
    const std::size_t place = queue.top().second, k = all.size() - place;
    queue.pop();
    const double now = rate(k);
    if (!queue.empty() && now < queue.top().first) {
      queue.emplace(now, place);
      continue;
    }
    missing.erase(all[k].met, strength);
    out.push_back(k);
  }
  return out;
}

}  // namespace

std::vector<Case> joint_sizes(backgauge_op op, const Dtypes& dtypes, const JointAmount& amount,
                              const std::vector<Case>& had, Draws& draws) {
  std::set<Met> met;
  for (const Case& c : had) met.insert(conditions_met(c));
  const std::vector<Candidate> all = candidates(op, dtypes, draws);
  std::vector<Case> out;
  for (const auto& [strength, share] : {std::pair(3, amount.triples), std::pair(2, amount.pairs)}) {
    if (share == 0) continue;
    for (const std::size_t k : chosen(all, strength, share, legal_size_combinations(op, dtypes, strength), met)) {
      met.insert(all[k].met);
      out.push_back(all[k].c);
      out.back().seed = draws.seed();
    }
  }
  return out;
}

}  // namespace backgauge
