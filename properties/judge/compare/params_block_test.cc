// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/params_block.h"

#include <gtest/gtest.h>

#include <set>

namespace backgauge {
namespace {

backgauge_attributes attributes(backgauge_rnn_mode mode) {
  backgauge_attributes a{};
  a.rnn_mode = mode;
  a.direction = BACKGAUGE_BIDIRECTIONAL;
  a.input_mode = BACKGAUGE_LINEAR_INPUT;
  return a;
}

TEST(ParamsBlock, NamesBothEndsOfEveryKindOfBlock) {
  const backgauge_attributes a = attributes(BACKGAUGE_GRU);
  const RnnParams layout = rnn_params(a, 3, 2, 2);
  EXPECT_EQ(params_block(a, layout, 0), "layer 0 forward, W[0,0] of gate r");
  EXPECT_EQ(params_block(a, layout, layout.W(0, 1, 2) + 5), "layer 0 reverse, W[1,2] of gate n");
  EXPECT_EQ(params_block(a, layout, layout.R(1, 0, 1) + 2), "layer 1 forward, R[1,0] of gate z");
  EXPECT_EQ(params_block(a, layout, layout.bW(1, 1, 0) + 1), "layer 1 reverse, bW[1] of gate r");
  EXPECT_EQ(params_block(a, layout, layout.size() - 1), "layer 1 reverse, bR[1] of gate n");
  EXPECT_EQ(params_block(a, layout, layout.size()), "");
}

TEST(ParamsBlock, EveryElementHasANameOfItsOwn) {
  for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const backgauge_input_mode input : {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT}) {
      backgauge_attributes a = attributes(mode);
      a.input_mode = input;
      const RnnParams layout = rnn_params(a, 3, 3, 2);
      std::set<std::string> names;
      for (std::int64_t k = 0; k < layout.size(); ++k) names.insert(params_block(a, layout, k));
      EXPECT_EQ(static_cast<std::int64_t>(names.size()), layout.size());
      EXPECT_FALSE(names.contains(""));
    }
  }
}

}  // namespace
}  // namespace backgauge
