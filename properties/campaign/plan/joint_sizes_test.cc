// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/joint_sizes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "properties/campaign/measure/coverage.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/campaign/settings/oracle_work.h"
#include "properties/campaign/settings/size_conditions.h"

namespace backgauge {
namespace {

const std::vector<Case>& cases_of(Tier tier, backgauge_op op) {
  static std::map<std::pair<Tier, backgauge_op>, std::vector<Case>> all;
  const auto [found, is_new] = all.try_emplace({tier, op});
  if (is_new) found->second = plan({.tier = tier, .seed = 1, .ops = {op}});
  return found->second;
}

double share(const PairCoverage& coverage) {
  return static_cast<double>(coverage.covered) / static_cast<double>(coverage.legal);
}

TEST(JointSizes, EveryTierMeetsItsShareOfPairsAndTriples) {
  for (const backgauge_op op : gradient_ops()) {
    const auto covered = [op](Tier tier, int strength) {
      return share(size_coverage(op, cases_of(tier, op), strength));
    };
    EXPECT_GE(covered(Tier::kSmoke, 2), 0.7) << find_op(op)->word;
    EXPECT_GE(covered(Tier::kCi, 2), 0.99) << find_op(op)->word;
    EXPECT_GE(covered(Tier::kCi, 3), 0.97) << find_op(op)->word;
    EXPECT_GE(covered(Tier::kFull, 2), 0.99) << find_op(op)->word;
    EXPECT_GE(covered(Tier::kFull, 3), 0.99) << find_op(op)->word;
  }
}

// Greedy choice is much cheaper than one case for each combination, and goes on from what there is.
TEST(JointSizes, AddOnlyWhatIsMissing) {
  const backgauge_op op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  const Dtypes dtypes{BACKGAUGE_FLOAT32, BACKGAUGE_HALF};
  const JointAmount amount{.pairs = 1, .triples = 0.95};
  Draws draws(1, "test");
  const std::vector<Case> cases = joint_sizes(op, dtypes, amount, {}, draws);
  EXPECT_LT(std::ssize(cases), 250);
  EXPECT_TRUE(joint_sizes(op, dtypes, amount, cases, draws).empty());
  EXPECT_TRUE(joint_sizes(op, dtypes, {}, {}, draws).empty());
  std::set<std::uint64_t> seeds;
  for (const Case& c : cases) seeds.insert(c.seed);
  EXPECT_EQ(seeds.size(), cases.size());
}

// Sizes at which frameworks choose other kernels. A kernel that returned zeros there passed every case.
struct Place {
  const char* what;
  std::function<bool(const Case&)> is;
  bool of_cell = true, of_block = true, in_smoke = true;
};
const std::vector<Place> kPlaces = {
    {"B, I, H % 8 = 0", [](const Case& c) { return c.B % 8 == 0 && c.I % 8 == 0 && c.H % 8 == 0; }},
    {"B, I, H % 8 = 0 in more than one step",
     [](const Case& c) { return c.T > 1 && c.B % 8 == 0 && c.I % 8 == 0 && c.H % 8 == 0; }, false},
    {"B > 64 and H >= 64", [](const Case& c) { return c.B > 64 && c.H >= 64; }},
    {"B and H % 8 = 0, H >= 64, several steps",
     [](const Case& c) { return c.T > 1 && c.B % 8 == 0 && c.H % 8 == 0 && c.H >= 64; }, false},
    {"T B >= 1024 and H >= 64", [](const Case& c) { return c.T * c.B >= 1024 && c.H >= 64; }, false, true, false},
    {"layers >= 2, 2 directions, B >= 32 and H >= 32",
     [](const Case& c) { return c.layers >= 2 && c.direction == BACKGAUGE_BIDIRECTIONAL && c.B >= 32 && c.H >= 32; },
     false, false, false},
};

TEST(JointSizes, AreAtThePlacesOfOtherKernelsWithEveryDtype) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi}) {
    for (const backgauge_op op : gradient_ops()) {
      for (const Place& place : kPlaces) {
        if (op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD && !place.of_cell) continue;
        if (op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 && !place.of_block) continue;
        if (tier == Tier::kSmoke && !place.in_smoke) continue;
        std::set<backgauge_dtype> dtypes;
        for (const Case& c : cases_of(tier, op)) {
          if (!conditions_met(c).empty() && place.is(c)) dtypes.insert(c.dtype);
        }
        const std::size_t all = op == BACKGAUGE_CUDNN_RNN_BACKPROP ? 4 : 2;
        EXPECT_GE(dtypes.size(), tier == Tier::kSmoke ? 1 : all)
            << tier_word(tier) << " " << find_op(op)->word << ": " << place.what;
      }
    }
  }
}

TEST(JointSizes, TheEndsOfRangesAreThere) {
  const auto has = [](backgauge_op op, const std::function<bool(const Case&)>& is) {
    return std::ranges::any_of(cases_of(Tier::kCi, op), is);
  };
  for (const std::int64_t H : {256, 512, 650, 768, 1024, 1536, 2048}) {
    EXPECT_TRUE(has(BACKGAUGE_CUDNN_RNN_BACKPROP, [H](const Case& c) { return c.H == H; })) << H;
  }
  EXPECT_TRUE(has(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, [](const Case& c) { return c.H >= 8191; }));
  EXPECT_TRUE(has(BACKGAUGE_CUDNN_RNN_BACKPROP, [](const Case& c) { return c.layers == 12; }));
}

// Kernels that are wrong only if two or three conditions hold, with alignments, tiles and thresholds of their own,
// which are not those that the cases were chosen by. Whether a tier has a case of them is asked without running
// anything; occasions_test.cc judges some.
struct Condition {
  std::string subject, text;
  std::function<bool(const Case&)> is_met;
};

std::vector<Condition> own_conditions(backgauge_op op) {
  std::vector<Condition> out;
  const auto add = [&](const char* subject, std::int64_t (*size)(const Case&),
                       std::initializer_list<std::int64_t> tiles, std::initializer_list<std::int64_t> least) {
    for (const std::int64_t n : tiles) {
      out.push_back({subject, fmt::format("{} % {} = 0", subject, n), [=](const Case& c) { return size(c) % n == 0; }});
      for (const std::int64_t r : {std::int64_t{1}, n - 1}) {
        out.push_back({subject, fmt::format("{} % {} = {}", subject, n, r),
                       [=](const Case& c) { return size(c) > 1 && size(c) % n == r; }});
      }
    }
    for (const std::int64_t n : least) {
      out.push_back({subject, fmt::format("{} >= {}", subject, n), [=](const Case& c) { return size(c) >= n; }});
    }
  };
  add("B", [](const Case& c) { return c.B; }, {4, 8, 16, 32, 64}, {8, 20, 32, 50, 64, 100});
  add("I", [](const Case& c) { return c.I; }, {4, 8, 16, 32, 64}, {10, 32, 50, 64, 100, 128, 200, 256});
  add("H", [](const Case& c) { return c.H; }, {4, 8, 16, 32, 64}, {10, 32, 50, 64, 100, 128, 200, 256});
  add("B H", [](const Case& c) { return c.B * c.H; }, {}, {500, 2000, 4096, 8000});
  if (!traits_of(op).has_steps) return out;
  add("T", [](const Case& c) { return steps_taken(c); }, {}, {2, 4, 10, 16, 30});
  add("T B", [](const Case& c) { return steps_taken(c) * c.B; }, {64}, {100, 500, 1024, 2000});
  if (!traits_of(op).has_layers) return out;
  add("layers", [](const Case& c) { return c.layers; }, {}, {2, 3, 4});
  add("directions", [](const Case& c) { return std::int64_t{c.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1}; }, {},
      {2});
  return out;
}

using Conditions = std::vector<Condition>;
using Met = std::bitset<128>;  // of own_conditions()

// What cases meet, without repetitions.
std::vector<Met> met_by(const std::vector<Case>& cases, const Conditions& conditions) {
  const auto less = [](const Met& a, const Met& b) { return a.to_string() < b.to_string(); };
  std::set<Met, decltype(less)> out(less);
  for (const Case& c : cases) {
    Met met;
    for (std::size_t k = 0; k < conditions.size(); ++k) met.set(k, conditions[k].is_met(c));
    out.insert(met);
  }
  return {out.begin(), out.end()};
}

bool is_met(const Met& kernel, const std::vector<Met>& cases) {
  return std::ranges::any_of(cases, [&](const Met& each) { return (each & kernel) == kernel; });
}

// Sizes for which the oracle takes at most half a second.
std::vector<Case> possible_cases(backgauge_op op) {
  constexpr std::int64_t kSteps[] = {1, 2, 3, 5, 7, 8, 9, 16, 17, 31, 33, 64},
                         kSizes[] = {1, 3, 5, 7, 8, 9, 15, 16, 17, 21, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256};
  Case c{.op = op};
  if (traits_of(op).has_layers) {
    c.layers = 4, c.direction = BACKGAUGE_BIDIRECTIONAL, c.rnn_mode = BACKGAUGE_RNN_TANH;  // the cheapest mode
  }
  std::vector<Case> out;
  for (const std::int64_t T : kSteps) {
    if (T > 1 && !traits_of(op).has_steps) break;
    set_steps(c, T, T);
    for (const std::int64_t B : kSizes) {
      for (const std::int64_t I : kSizes) {
        for (const std::int64_t H : kSizes) {
          c.B = B, c.I = I, c.H = H;
          if (oracle_work(c) <= 0.5 * kWorkOfASecond) out.push_back(c);
        }
      }
    }
  }
  return out;
}

// Every possible pair, or 200 possible triples drawn at random, of different subjects.
std::vector<Met> kernels_of(const Conditions& all, int strength, const std::vector<Met>& possible) {
  std::vector<Met> out;
  const auto add = [&](std::initializer_list<std::size_t> places) {
    Met kernel;
    std::set<std::string> subjects;
    for (const std::size_t k : places) kernel.set(k), subjects.insert(all[k].subject);
    if (subjects.size() == places.size() && is_met(kernel, possible)) out.push_back(kernel);
  };
  for (std::size_t a = 0; strength == 2 && a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) add({a, b});
  }
  Draws draws(7, "triples");
  const auto any = [&] { return static_cast<std::size_t>(draws.below(std::ssize(all))); };
  while (strength == 3 && out.size() < 200) add({any(), any(), any()});
  return out;
}

std::string text_of(const Conditions& all, const Met& kernel) {
  std::string out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (kernel.test(k)) out += (out.empty() ? "" : " and ") + all[k].text;
  }
  return out;
}

TEST(JointSizes, FindAlmostEveryKernelThatIsWrongOnlyIfTwoOrThreeConditionsHold) {
  for (const backgauge_op op : gradient_ops()) {
    const Conditions conditions = own_conditions(op);
    std::vector<Case> cases = cases_of(Tier::kCi, op);
    std::erase_if(cases, [](const Case& c) { return conditions_met(c).empty(); });
    const std::vector<Met> possible = met_by(possible_cases(op), conditions), met = met_by(cases, conditions);
    for (const int strength : {2, 3}) {
      const std::vector<Met> kernels = kernels_of(conditions, strength, possible);
      std::size_t found = 0;
      std::string missed;
      for (const Met& each : kernels) {
        const bool is_found = is_met(each, met);
        found += is_found;
        if (!is_found) missed += "\n  " + text_of(conditions, each);
      }
      EXPECT_GE(found * 100, kernels.size() * 95) << find_op(op)->word;
      std::cout << find_op(op)->word << ": " << found << " of " << kernels.size() << " wrong kernels found"
                << (missed.empty() ? "" : ", not those with") << missed << "\n";
    }
  }
}

}  // namespace
}  // namespace backgauge
