// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/size_conditions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/campaign/measure/coverage.h"
#include "properties/campaign/settings/oracle_work.h"
#include "properties/campaign/settings/size_mixture.h"

namespace backgauge {
namespace {

Case parsed(std::string_view line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c) << line << ": " << error;
  return c.value_or(Case{});
}

std::vector<std::string> texts_met(std::string_view line) {
  const Case c = parsed(line);
  std::vector<std::string> out;
  for (const int k : conditions_met(c)) out.push_back(size_conditions(c.op)[static_cast<std::size_t>(k)].text);
  return out;
}

bool meets(std::string_view line, std::string_view text) { return std::ranges::count(texts_met(line), text) == 1; }

TEST(SizeConditions, SayWhatTheyMean) {
  constexpr std::string_view kAligned = "block_lstm_grad_v2 t16b64i128h64 peep=1 seq=16 dt=f32 data=tame:0x1";
  for (const std::string_view text : {"B % 64 = 0", "I % 64 = 0", "H % 32 = 0", "B, I, H % 64 = 0", "T B >= 1024",
                                      "T >= 8", "H >= 64", "T B H >= 65536", "B H >= 4096", "peep=1", "dt=f32"}) {
    EXPECT_TRUE(meets(kAligned, text)) << text;
  }
  for (const std::string_view text : {"B % 64 = 1", "H % 16 = 15", "T B >= 4096", "H >= 128", "B = 1", "peep=0"}) {
    EXPECT_FALSE(meets(kAligned, text)) << text;
  }
  constexpr std::string_view kTiles =
      "cudnn_rnn_backprop t1b65i63h33 mode=gru dir=bi layers=2 in=linear dt=f64 data=strat:0x1";
  for (const std::string_view text : {"B % 64 = 1", "I % 64 = 63", "H % 32 = 1", "T = 1", "layers >= 2",
                                      "2 directions of layers >= 2", "mode=gru", "dir=bi", "dt=f64"}) {
    EXPECT_TRUE(meets(kTiles, text)) << text;
  }
  EXPECT_FALSE(meets(kTiles, "H % 64 = 1"));
}

// Steps from seq_len_max on are not computed, and a gradient that is 0 anyway shows no kernel that returns zeros.
TEST(SizeConditions, CountOnlyWhatShowsAnError) {
  EXPECT_TRUE(texts_met("block_lstm_grad_v2 t16b64i128h64 seq=0 dt=f32 data=strat:0x1").empty());
  EXPECT_FALSE(meets("block_lstm_grad_v2 t16b64i128h64 seq=2 dt=f32 data=strat:0x1", "T B >= 1024"));
  EXPECT_TRUE(texts_met("block_lstm_grad_v2 t2b64i128h64 seq=2 dt=f32 data=blank:0x1").empty());
  EXPECT_TRUE(texts_met("lstm_block_cell_grad b64i128h64 dt=f32 data=nan:0x1").empty());
}

TEST(SizeCombinations, HoldPairsAndTriplesOfDifferentSubjects) {
  const backgauge_op op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  for (const int strength : {2, 3}) {
    SizeCombinations all(op);
    EXPECT_EQ(all.first(), 0u);
    const std::vector<int> met = conditions_met(parsed("block_lstm_grad_v2 t2b64i3h5 seq=2 dt=f32 data=strat:0x1"));
    all.insert(met, strength);
    EXPECT_EQ(all.count(met, strength), all.size());
    EXPECT_EQ(all.count(met, 5 - strength), 0);
    const std::string text = text_of(op, all.first());
    EXPECT_EQ(text, strength == 2 ? "B % 8 = 0 and T B % 8 = 0" : "B % 8 = 0 and T B % 8 = 0 and T >= 2") << text;
    all.erase(met, strength);
    EXPECT_EQ(all.size(), 0);
  }
}

// What no case of half a second can have must not be asked for.
TEST(SizeCombinations, ThoseOfCheapCasesAreLegal) {
  for (const backgauge_op op : gradient_ops()) {
    const std::vector<Case> cases = usual_mixture(op, {BACKGAUGE_FLOAT32});
    EXPECT_LE(oracle_work(*std::ranges::max_element(cases, {}, oracle_work)), 0.5 * kWorkOfASecond);
    EXPECT_GT(legal_size_combinations(op, {BACKGAUGE_FLOAT32}, 2).size(), 1000);
    EXPECT_GT(legal_size_combinations(op, {BACKGAUGE_FLOAT32}, 3).size(), 10000);
  }
}

TEST(SizeCoverage, FallsShortAndNamesWhatIsMissing) {
  const backgauge_op op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  std::vector<Case> cases =
      usual_mixture(op, {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_BFLOAT16});
  const PairCoverage all = size_coverage(op, cases, 2);
  EXPECT_GT(static_cast<double>(all.covered), 0.98 * static_cast<double>(all.legal));
  std::erase_if(cases, [](const Case& c) { return c.B % 8 == 0 && c.I % 8 == 0; });
  const PairCoverage less = size_coverage(op, cases, 2);
  EXPECT_LT(less.covered, all.covered);
  EXPECT_EQ(less.legal, all.legal);
  EXPECT_NE(less.missing, "");
  EXPECT_EQ(size_coverage(op, {}, 3).covered, 0);
}

}  // namespace
}  // namespace backgauge
