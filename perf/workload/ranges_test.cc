// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ranges.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers(const std::string& text) {
  std::string error;
  Numbers out = parse_numbers(text, error);
  EXPECT_EQ(error, "") << text;
  return out;
}

Case parsed(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  return c.value_or(Case{});
}

TEST(Numbers, ListsStepsAndFactors) {
  EXPECT_EQ(numbers("13"), (Numbers{13}));
  EXPECT_EQ(numbers("3,1,2"), (Numbers{3, 1, 2}));
  EXPECT_EQ(numbers("1:4"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers("64:256:64"), (Numbers{64, 128, 192, 256}));
  EXPECT_EQ(numbers("256:1024:*2"), (Numbers{256, 512, 1024}));
  EXPECT_EQ(numbers("1:10:*3,0"), (Numbers{1, 3, 9, 0}));
  EXPECT_EQ(numbers("5:5"), (Numbers{5}));
  EXPECT_EQ(numbers("5:7:10"), (Numbers{5}));
}

TEST(Numbers, EverythingElseIsRefused) {
  for (const char* text :
       {"",    ",",     "1,",     ",1",     "1,,2",   "x",       "1x",    "-1",         "1:",           ":2",
        "2:1", "1:2:0", "1:2:-1", "1:2:*1", "0:8:*2", "1:2:3:4", "1:2:*", "2147483648", "0:2147483647", "1.5"}) {
    std::string error;
    EXPECT_TRUE(parse_numbers(text, error).empty()) << text;
    EXPECT_NE(error, "") << text;
  }
}

TEST(Expand, EveryCombinationOnce) {
  Ranges ranges;
  ranges.sizes['B'] = {1, 2};
  ranges.dtypes = {BACKGAUGE_FLOAT32, BACKGAUGE_HALF};
  const std::vector<Case> all = expand(parsed("block_lstm_grad_v2 t5b3i4h6 dt=f32 data=strat:0x1 chk=0001"), ranges);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(to_string(all[1]), "block_lstm_grad_v2 t5b1i4h6 peep=0 order=ifco seq=5 dt=f16 data=strat:0x1");
  EXPECT_EQ(all[2].B, 2);
  EXPECT_EQ(all[2].dtype, BACKGAUGE_FLOAT32);
}

TEST(Expand, WithoutRangesNothingChanges) {
  const Case c = parsed("cudnn_rnn_backprop t5b3i4h6 mode=gru dt=f64 data=strat:0x1 chk=0001");
  EXPECT_EQ(expand(c, {}), std::vector<Case>{c});
}

TEST(Expand, InputGoesWithHiddenAndSeqWithSteps) {
  Ranges ranges;
  ranges.sizes['H'] = {8};
  ranges.sizes['T'] = {7};
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i6h6 dt=f32 data=strat:0x1"), ranges).at(0).I, 8);
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i4h6 dt=f32 data=strat:0x1"), ranges).at(0).I, 4);
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i4h6 dt=f32 data=strat:0x1"), ranges).at(0).seq_len_max, 7);
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i4h6 seq=3 dt=f32 data=strat:0x1"), ranges).at(0).seq_len_max, 3);
  ranges.sizes['I'] = {9};
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i6h6 dt=f32 data=strat:0x1"), ranges).at(0).I, 9);
}

TEST(Expand, WhatNoCaseCanBeIsLeftOut) {
  Ranges ranges;
  ranges.dtypes = {BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64};
  EXPECT_EQ(expand(parsed("block_lstm_grad_v2 t5b3i6h6 dt=f32 data=strat:0x1"), ranges).size(), 1u);
  ranges.sizes['I'] = {5};
  EXPECT_TRUE(expand(parsed("cudnn_rnn_backprop t5b3i6h6 mode=gru in=skip dt=f32 data=strat:0x1"), ranges).empty());
}

}  // namespace
}  // namespace backgauge
