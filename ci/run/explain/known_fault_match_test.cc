// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/known_fault_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const char* const kBlock = "block_lstm_grad_v2 t4b3i5h7 peep=1 order=ifco seq=3 dt=f32 data=strat:0x9e37";
const char* const kGru = "cudnn_rnn_backprop t3b2i4h5 mode=gru dir=bi layers=2 in=linear dt=f64 data=strat:0x9e37";
const std::string kMatch = "all outputs match those of a known error: ";

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
  EXPECT_EQ(Failed(kBlock, "A20.block").match(), kMatch + "df uses cs instead of cs_prev (saboteur:A20.block)");
  EXPECT_EQ(Failed(kGru, "E3.rnn").match(), kMatch + "gradient of R_n lacks r (saboteur:E3.rnn)");
}

// Only the fault with a description is named, and none of the generated ones that give the same numbers.
TEST(KnownFaultMatch, PrefersFaultsWithADescription) {
  EXPECT_EQ(Failed(kBlock, "A21.block").match(), kMatch + "dcs' lacks f (saboteur:A21.block)");
}

TEST(KnownFaultMatch, DescribesAGeneratedFault) {
  EXPECT_EQ(Failed(kBlock, "dcs_peephole_negate.block").match(),
            kMatch + "do wco in dcs with the wrong sign (saboteur:dcs_peephole_negate.block)");
}

TEST(KnownFaultMatch, IsEmptyForCorrectOutputs) { EXPECT_EQ(Failed(kBlock, "pairwise_sums").match(), ""); }

// Hundreds of faults would be computed, for seconds each.
TEST(KnownFaultMatch, IsNotLookedForInALargeProblem) {
  EXPECT_EQ(
      Failed("block_lstm_grad_v2 t16b33i33h17 peep=1 order=ifco seq=16 dt=f32 data=tame:0x9e37", "A20.block").match(),
      "");
}

// A fault that divides by a size, or reads beyond it, would end the judge.
TEST(KnownFaultMatch, IsLookedForInEmptyTensors) {
  for (const char* line : {"cudnn_rnn_backprop t3b2i0h2 mode=gru dir=uni layers=3 in=linear dt=f64 data=strat:0x1",
                           "cudnn_rnn_backprop t3b2i0h3 mode=lstm dir=bi layers=2 in=linear dt=f32 data=strat:0x1",
                           "block_lstm_grad_v2 t0b3i5h7 peep=0 order=ifco seq=0 dt=f32 data=strat:0x1",
                           "block_lstm_grad_v2 t3b0i5h7 peep=1 order=ifco seq=2 dt=f32 data=strat:0x1",
                           "block_lstm_grad_v2 t3b2i0h5 peep=1 order=ifco seq=2 dt=f32 data=strat:0x1"}) {
    EXPECT_EQ(Failed(line, "pairwise_sums").match(), "");
  }
}

// If one more element differs, it is not that fault.
TEST(KnownFaultMatch, NeedsEveryElementOfEveryOutput) {
  Failed failed(kBlock, "A20.block");
  const auto other = std::ranges::find(failed.outputs, "b_grad", &GivenTensor::name);
  ASSERT_NE(other, failed.outputs.end());
  other->values.back() *= 1.5;
  EXPECT_EQ(failed.match(), "");
}

}  // namespace
}  // namespace backgauge::cli
