// SPDX-License-Identifier: Apache-2.0
#include "ci/likeness.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/case/inputs.h"
#include "properties/judge/claims.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const char* const kBlock = "block_lstm_grad_v2 t4b3i5h7 peep=1 order=ifco seq=3 dt=f32 data=strat:0x9e37";
const char* const kGru = "cudnn_rnn_backprop t3b2i4h5 mode=gru dir=bi layers=2 in=linear dt=f64 data=strat:0x9e37";

struct Failed {
  Problem problem;
  std::vector<Wanted> wanted;
  std::vector<Output> outputs;

  Failed(const char* line, const char* variant) {
    std::string error;
    Filled filled = fill(*parse_case(line, error));
    EXPECT_EQ(error + filled.error, "");
    problem = std::move(filled.problem);
    wanted = oracle(problem, {}, Values::kRandom);
    InProcessRunner runner(*saboteurs::find_implementation(variant));
    outputs = run_gradient(runner, problem, {}).outputs;
  }

  std::string told() const { return likeness(problem, wanted, outputs); }
};

TEST(Likeness, NamesTheKnownFault) {
  EXPECT_EQ(Failed(kBlock, "A20.block").told(), "the same numbers as with: df uses cs instead of cs_prev [A20]");
  EXPECT_EQ(Failed(kGru, "E3.rnn").told(), "the same numbers as with: gradient of R_n lacks r [E3]");
}

TEST(Likeness, NamesAllThatGiveTheseNumbers) {
  const std::string told = Failed(kBlock, "B6.block").told();
  EXPECT_NE(told.find("dcs' not carried (lstm) [B6]; or "), told.npos) << told;
}

TEST(Likeness, HasNothingToSayOfRightNumbers) { EXPECT_EQ(Failed(kBlock, "pairwise_sums").told(), ""); }

// One element more that differs, and it is no longer that fault.
TEST(Likeness, AsksForEveryElementOfEveryOutput) {
  Failed failed(kBlock, "A20.block");
  const auto other = std::ranges::find(failed.outputs, "b_grad", [](const Output& o) { return o.raw.name; });
  ASSERT_NE(other, failed.outputs.end());
  other->values.back() *= 1.5;
  EXPECT_EQ(failed.told(), "");
}

}  // namespace
}  // namespace backgauge::cli
