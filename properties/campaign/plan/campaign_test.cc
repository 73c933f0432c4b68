// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "properties/campaign/measure/coverage.h"
#include "properties/campaign/plan/containment.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/draw/poison.h"

namespace backgauge {
namespace {

const std::vector<backgauge_op> kOps{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                     BACKGAUGE_CUDNN_RNN_BACKPROP};

std::vector<Case> plan_of(Tier tier, std::uint64_t seed = 1) { return plan({.tier = tier, .seed = seed, .ops = kOps}); }

TEST(Campaign, EveryTierCoversEveryPairOfSettings) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi, Tier::kFull}) {
    const std::vector<Case> cases = plan_of(tier);
    for (const backgauge_op op : kOps) {
      const PairCoverage pairs = pair_coverage(op, cases);
      EXPECT_EQ(pairs.covered, pairs.legal) << tier_word(tier) << " lacks " << pairs.missing;
      EXPECT_GT(pairs.legal, 300) << find_op(op)->word;
      for (const Axis& axis : coverage(op, cases)) {
        for (const auto& [value, count] : axis.values) {
          EXPECT_TRUE(count > 0 || value == "golden") << axis.name << " " << value;
        }
      }
    }
  }
}

TEST(Campaign, TheGateCoversEveryTripleOfSettings) {
  for (const backgauge_op op : kOps) {
    std::vector<Row> rows;
    for (const Case& c : plan({.tier = Tier::kCi, .seed = 1, .ops = {op}})) rows.push_back(row_of(c));
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (const Row& triple : legal_combinations(factors_of(op), 3)) {
      EXPECT_TRUE(std::ranges::any_of(rows, [&](const Row& row) { return is_part_of(triple, row); }));
    }
  }
}

TEST(Campaign, TheGateAndTheFullTierHaveTheirAmountsPerOpAndDtype) {
  for (const auto& [tier, least] : {std::pair{Tier::kCi, 1800}, std::pair{Tier::kFull, 25000}}) {
    std::map<std::pair<int, int>, int> counts;
    for (const Case& c : plan_of(tier)) ++counts[{c.op, c.dtype}];
    EXPECT_EQ(counts.size(), 8u);
    for (const auto& [key, count] : counts) EXPECT_GE(count, least);
  }
}

TEST(Campaign, PlansAreRepeatableDistinctAndSeeded) {
  const std::vector<Case> cases = plan_of(Tier::kCi, 7);
  EXPECT_EQ(plan_of(Tier::kCi, 7), cases);
  EXPECT_NE(plan_of(Tier::kCi, 8), cases);
  std::set<std::string> lines;
  for (const Case& c : cases) lines.insert(to_string(c));
  EXPECT_EQ(lines.size(), cases.size());
}

TEST(Campaign, TheCasesOfAnOpDoNotDependOnTheOthers) {
  const auto lines = [](const std::vector<Case>& cases) {
    std::multiset<std::string> out;
    for (const Case& c : cases) out.insert(to_string(c));
    return out;
  };
  std::vector<Case> alone;
  for (const backgauge_op op : kOps) {
    for (const Case& c : plan({.tier = Tier::kSmoke, .seed = 1, .ops = {op}})) alone.push_back(c);
  }
  EXPECT_EQ(lines(alone), lines(plan_of(Tier::kSmoke)));
}

// What is kept between calls shows where neighbours differ.
TEST(Campaign, NeighboursDifferInOpSizeAndFlags) {
  const std::vector<Case> cases = plan_of(Tier::kCi);
  std::size_t other_op = 0, other_size = 0, other_row = 0;
  for (std::size_t k = 1; k < cases.size(); ++k) {
    const Case &a = cases[k - 1], &b = cases[k];
    other_op += a.op != b.op;
    other_size += a.T != b.T || a.B != b.B || a.I != b.I || a.H != b.H;
    other_row += a.op != b.op || row_of(a) != row_of(b);
  }
  // Two of three ops, or the shares of chance for the ops' numbers of cases.
  EXPECT_GT(other_op, cases.size() / 2);
  EXPECT_GT(other_size, cases.size() * 9 / 10);
  EXPECT_GT(other_row, cases.size() * 9 / 10);
}

TEST(Campaign, EveryCaseIsALegalLine) {
  for (const Case& c : plan_of(Tier::kFull, 3)) {
    const std::string line = to_string(c);
    std::string error;
    const std::optional<Case> parsed = parse_case(line, error);
    ASSERT_TRUE(parsed.has_value()) << line << ": " << error;
    ASSERT_EQ(*parsed, c) << line;
    ASSERT_LE(line.size(), 150u) << line;  // leaves room for the checksum
  }
}

TEST(Campaign, EveryCaseCanBeFilled) {
  for (const Case& c : plan_of(Tier::kSmoke, 3)) EXPECT_EQ(fill(c).error, "") << to_string(c);
}

// Finds the element by looking for it, and where it lies among those that are read by the table of the op.
TEST(Containment, EveryTensorThatIsReadHoldsItFirstLastAndBetween) {
  Draws draws(1, "test");
  for (const backgauge_op op : kOps) {
    std::map<std::string, std::set<std::string>> places;
    for (const Case& c : containment_cases(op, BACKGAUGE_FLOAT32, draws)) {
      const Filled filled = fill(c);
      ASSERT_EQ(filled.error, "");
      ASSERT_TRUE(filled.facts.nonfinite);
      for (const ReadableTensor& tensor : readable_tensors(c)) {
        const std::vector<double>& values = filled.problem.find(tensor.name)->values;
        for (std::int64_t k = 0; k < tensor.readable; ++k) {
          if (std::isfinite(values[k])) continue;
          places[std::string(tensor.name) + "/" + std::string(data_profile_word(c.data))].insert(
              k == 0                     ? "first"
              : k == tensor.readable - 1 ? "last"
                                         : "between");
        }
      }
    }
    std::size_t tensors = 0;
    Case all{.op = op, .T = 3, .seq_len_max = 3, .use_peephole = true};
    tensors = readable_tensors(all).size();
    EXPECT_EQ(places.size(), 2 * tensors) << find_op(op)->word;
    for (const auto& [tensor, positions] : places) EXPECT_EQ(positions.size(), 3u) << tensor;
  }
}

}  // namespace
}  // namespace backgauge
