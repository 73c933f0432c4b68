// SPDX-License-Identifier: Apache-2.0
#include "ci/run/known_fault_match.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/case/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const char* const kBlock = "block_lstm_grad_v2 t4b3i5h7 peep=1 order=ifco seq=3 dt=f32 data=strat:0x9e37";
const char* const kGru = "cudnn_rnn_backprop t3b2i4h5 mode=gru dir=bi layers=2 in=linear dt=f64 data=strat:0x9e37";

struct Failed {
  Problem problem;
  std::vector<Wanted> wanted;
  std::vector<GivenTensor> outputs;

  Failed(const char* line, const char* variant) {
    std::string error;
    Filled filled = fill(*parse_case(line, error));
    EXPECT_EQ(error + filled.error, "");
    problem = std::move(filled.problem);
    wanted = oracle(problem, {}, RoundingErrors::kIndependent);
    InProcessRunner runner(*saboteurs::find_implementation(variant));
    CaseSession session(runner, problem);
    outputs = given_by(session, {});
  }

  std::string match() const { return known_fault_match(problem, wanted, outputs); }
};

TEST(KnownFaultMatch, NamesTheKnownFault) {
  EXPECT_EQ(Failed(kBlock, "A20.block").match(), "the same numbers as a known error: df uses cs instead of cs_prev");
  EXPECT_EQ(Failed(kGru, "E3.rnn").match(), "the same numbers as a known error: gradient of R_n lacks r");
}

// The fault that somebody has described, and none of those by rule that give the same numbers.
TEST(KnownFaultMatch, PrefersWhatSomebodyHasDescribed) {
  EXPECT_EQ(Failed(kBlock, "A21.block").match(), "the same numbers as a known error: dcs' lacks f");
}

TEST(KnownFaultMatch, SaysInWordsWhatARuleHasChanged) {
  EXPECT_EQ(Failed(kBlock, "dcs_peephole_negate.block").match(),
            "the same numbers as a known error: do wco in dcs with the other sign");
}

TEST(KnownFaultMatch, HasNothingToSayOfRightNumbers) { EXPECT_EQ(Failed(kBlock, "pairwise_sums").match(), ""); }

// One element more that differs, and it is no longer that fault.
TEST(KnownFaultMatch, AsksForEveryElementOfEveryOutput) {
  Failed failed(kBlock, "A20.block");
  const auto other = std::ranges::find(failed.outputs, "b_grad", &GivenTensor::name);
  ASSERT_NE(other, failed.outputs.end());
  other->values.back() *= 1.5;
  EXPECT_EQ(failed.match(), "");
}

}  // namespace
}  // namespace backgauge::cli
