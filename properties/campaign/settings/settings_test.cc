// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/campaign/measure/coverage.h"
#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

const std::vector<backgauge_op> kOps{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                     BACKGAUGE_CUDNN_RNN_BACKPROP};

TEST(Settings, ACaseOfARowHasThatRow) {
  Draws draws(1, "test");
  for (const backgauge_op op : kOps) {
    for (const Row& row : covering_array(factors_of(op), 2)) {
      const Case c = case_of(op, row, draws);
      EXPECT_EQ(row_of(c), row) << to_string(c);
      EXPECT_EQ(fill(c).error, "") << to_string(c);
    }
  }
}

// What no case can have must not be asked for, and what a case has must be known to be possible.
TEST(Settings, LegalRowsAreThoseOfTheCasesThereAre) {
  const Factors factors = factors_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  const auto legal = [&](std::string_view line) {
    std::string error;
    const std::optional<Case> c = parse_case(line, error);
    return c && factors.legal(row_of(*c));
  };
  EXPECT_TRUE(legal("block_lstm_grad_v2 t3b2i2h3 seq=2 dt=f32 data=strat:0x1"));
  EXPECT_TRUE(legal("block_lstm_grad_v2 t3b2i2h3 seq=0 dt=f32 data=strat:0x1"));
  EXPECT_FALSE(legal("block_lstm_grad_v2 t3b2i2h3 seq=0 dt=f32 data=nan:0x1"));
  EXPECT_FALSE(legal("block_lstm_grad_v2 t3b1i2h3 seq=2 dt=f32 data=saturated:0x1"));
}

TEST(PairCoverage, CountsWhatCasesHaveAndNamesWhatIsMissing) {
  const backgauge_op op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  Draws draws(2, "test");
  std::vector<Case> cases;
  for (const Row& row : covering_array(factors_of(op), 2)) cases.push_back(case_of(op, row, draws));
  const PairCoverage all = pair_coverage(op, cases);
  EXPECT_EQ(all.covered, all.legal);
  EXPECT_EQ(all.missing, "");

  std::erase_if(cases, [](const Case& c) { return c.rnn_mode == BACKGAUGE_GRU && c.layers == 3; });
  const PairCoverage less = pair_coverage(op, cases);
  EXPECT_LT(less.covered, less.legal);
  EXPECT_EQ(pair_coverage(op, {}).covered, 0);
  EXPECT_EQ(pair_coverage(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, cases).covered, 0);
}

}  // namespace
}  // namespace backgauge
