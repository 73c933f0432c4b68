// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/campaign.h"

#include <gtest/gtest.h>

#include <set>

#include "properties/case/inputs.h"

namespace backgauge {
namespace {

const std::vector<backgauge_op> kOps{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                     BACKGAUGE_CUDNN_RNN_BACKPROP};

TEST(Campaign, EveryTierCoversEveryValueOfEveryAxis) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi}) {
    const std::vector<Case> cases = plan({.tier = tier, .seed = 1, .ops = kOps});
    for (const backgauge_op op : kOps) {
      for (const Axis& axis : coverage(op, cases)) {
        for (const auto& [value, count] : axis.values) {
          if (value == "golden") continue;
          EXPECT_GT(count, 0) << tier_word(tier) << " " << find_op(op)->word << " " << axis.name << " " << value;
        }
      }
    }
  }
}

TEST(Campaign, PlansAreRepeatableDistinctAndSeeded) {
  const Campaign campaign{.tier = Tier::kSmoke, .seed = 7, .ops = kOps};
  const std::vector<Case> cases = plan(campaign);
  EXPECT_EQ(plan(campaign), cases);
  EXPECT_NE(plan({.tier = Tier::kSmoke, .seed = 8, .ops = kOps}), cases);
  std::set<std::string> lines;
  for (const Case& c : cases) lines.insert(to_string(c));
  EXPECT_EQ(lines.size(), cases.size());
}

TEST(Campaign, TheCasesOfAnOpDoNotDependOnTheOthers) {
  const std::vector<Case> all = plan({.tier = Tier::kSmoke, .seed = 1, .ops = kOps});
  std::vector<Case> alone;
  for (const backgauge_op op : kOps) {
    for (const Case& c : plan({.tier = Tier::kSmoke, .seed = 1, .ops = {op}})) alone.push_back(c);
  }
  EXPECT_EQ(alone, all);
}

TEST(Campaign, EveryCaseIsALegalLineThatCanBeFilled) {
  for (const Case& c : plan({.tier = Tier::kSmoke, .seed = 3, .ops = kOps})) {
    const std::string line = to_string(c);
    std::string error;
    const std::optional<Case> parsed = parse_case(line, error);
    ASSERT_TRUE(parsed.has_value()) << line << ": " << error;
    EXPECT_EQ(*parsed, c) << line;
    EXPECT_LE(line.size(), 150u) << line;  // leaves room for the checksum
    EXPECT_EQ(fill(c).error, "") << line;
  }
}

}  // namespace
}  // namespace backgauge
