// SPDX-License-Identifier: Apache-2.0
// judge_case on CudnnRNNBackprop: forward, masks, reserve_space, gradient.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "properties/judge/compare/report.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using testing::expect_failed;
using testing::input_at;
using testing::judge;
using testing::net_case;
using testing::output_at;
using testing::Puppet;

Case rnn_case(backgauge_rnn_mode mode = BACKGAUGE_LSTM, double dropout = 0) { return net_case(mode, dropout); }

TEST(JudgeRnn, PassesWhatIsRight) {
  for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const double dropout : {0.0, 0.5, 1.0}) {
      for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
        Case c = rnn_case(mode, dropout);
        c.dtype = dtype;
        Puppet puppet;
        const Verdict verdict = judge(puppet, c);
        EXPECT_EQ(verdict.status, Status::kPassed) << to_string(c) << "\n" << verdict_text(verdict);
        EXPECT_EQ(verdict.tensors.size(), mode == BACKGAUGE_LSTM ? 7u : 5u);
      }
    }
  }
}

TEST(JudgeRnn, FailsAWrongForward) {
  Puppet puppet;
  puppet.after_forward = [](const backgauge_call& call) { output_at(call, "output_c", 3) += 1; };
  expect_failed(judge(puppet, rnn_case()), "output_c[0,1,0]");
}

TEST(JudgeRnn, NamesTheBlockOfAWrongParameter) {
  Puppet puppet;
  puppet.after_run = [](const backgauge_call& call) { output_at(call, "params_backprop", 0) += 1; };
  const Verdict verdict = judge(puppet, rnn_case());
  expect_failed(verdict, "params_backprop[0]");
  expect_failed(verdict, "layer 0 forward, W[0,0] of gate i");
}

TEST(JudgeRnn, ReserveSpaceTravelsUntouchedAndMustStaySo) {
  Puppet puppet;
  puppet.after_run = [](const backgauge_call& call) { input_at(call, "reserve_space", 0) = 7; };
  expect_failed(judge(puppet, rnn_case()), "changed the input reserve_space (element 0 of");
  puppet.claims.changes_reserve_space = 1;
  EXPECT_EQ(judge(puppet, rnn_case()).status, Status::kPassed);  // restored: the puppet checks what it reads
}

TEST(JudgeRnn, ReserveSpaceIsNotDecoded) {
  // A signalling NaN does not survive a conversion.
  static constexpr std::uint32_t kSignalling = 0x7fa00001;
  Puppet puppet;
  puppet.after_forward = [](const backgauge_call& call) {
    std::memcpy(&output_at(call, "reserve_space", 0), &kSignalling, sizeof kSignalling);
  };
  int seen = 0;
  puppet.before = [&](const backgauge_call& call, backgauge_message&) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &input_at(call, "reserve_space", 0), sizeof bits);
    seen += bits == kSignalling ? 1 : 0;
    const float one = 1;
    std::memcpy(&input_at(call, "reserve_space", 0), &one, sizeof one);
    return BACKGAUGE_OK;
  };
  puppet.claims.changes_reserve_space = 1;
  EXPECT_EQ(judge(puppet, rnn_case()).status, Status::kPassed);
  EXPECT_EQ(seen, 2);
}

TEST(JudgeRnn, MasksMustBePlausible) {
  Puppet values;
  values.after_dropout_mask = [](std::uint8_t* keep, std::size_t) { keep[1] = 2; };
  expect_failed(judge(values, rnn_case(BACKGAUGE_GRU, 0.5)), "dropout mask of gap 0: element 1 is 2");
  Case c = rnn_case(BACKGAUGE_GRU, 0.5);
  c.T = 7;
  c.B = 5;
  Puppet all_kept;
  all_kept.after_dropout_mask = [](std::uint8_t* keep, std::size_t count) { std::fill(keep, keep + count, 1); };
  expect_failed(judge(all_kept, c), "dropout mask of gap 0: keeps 210 of 210 elements");
}

TEST(JudgeRnn, NoMaskIsWrittenPastItsEnd) {
  Puppet puppet;
  puppet.after_dropout_mask = [](std::uint8_t* keep, std::size_t count) { keep[count] = 1; };
  expect_failed(judge(puppet, rnn_case(BACKGAUGE_GRU, 0.5)), "dropout_mask wrote past the end of keep (byte 36 of 36)");
}

TEST(JudgeRnn, TheMaskThatIsRevealedIsTheOneThatIsJudged) {
  Puppet puppet;
  puppet.after_dropout_mask = [](std::uint8_t* keep, std::size_t) { keep[0] ^= 1; };
  EXPECT_EQ(judge(puppet, rnn_case(BACKGAUGE_LSTM, 0.5)).status, Status::kFailed);
}

// Elements enough for 64 bits of mask; masks told, and not.
class DropoutSeeds : public ::testing::TestWithParam<bool> {
 protected:
  DropoutSeeds() : c_(rnn_case(BACKGAUGE_LSTM, 0.5)) {
    c_.T = 5;
    c_.B = 3;
    if (!GetParam()) puppet_.table.dropout_mask = nullptr;
  }
  void expect_wrong_seeds(const std::string& reason) {
    expect_failed(judge(puppet_, c_), "dropout mask: ");
    expect_failed(judge(puppet_, c_), reason);
  }
  Case c_;
  Puppet puppet_;
};
INSTANTIATE_TEST_SUITE_P(Told, DropoutSeeds, ::testing::Bool());

TEST_P(DropoutSeeds, MustDecideTheMask) {
  EXPECT_EQ(judge(puppet_, c_).status, Status::kPassed) << judge(puppet_, c_).reason;
  puppet_.seeds = [](backgauge_attributes a) { return a.seed = a.seed2 = 1, a; };
  expect_wrong_seeds("with another seed (seed");
}

TEST_P(DropoutSeeds, MustBothDecideTheMask) {
  puppet_.seeds = [](backgauge_attributes a) { return a.seed2 = 1, a; };
  expect_wrong_seeds("with another seed2 (seed");
  puppet_.seeds = [](backgauge_attributes a) { return a.seed = 1, a; };
  expect_wrong_seeds("with another seed (seed");
}

TEST_P(DropoutSeeds, MustAloneDecideTheMask) {
  std::int64_t calls = 0;
  puppet_.seeds = [&calls](backgauge_attributes a) { return a.seed2 += ++calls, a; };
  expect_wrong_seeds("in the second forward with the same seed and seed2");
  puppet_.claims.determinism = BACKGAUGE_NOT_DETERMINISTIC;
  EXPECT_EQ(judge(puppet_, c_).status, Status::kFailed);
  puppet_.claims.dropout_has_state = 1;
  const Verdict verdict = judge(puppet_, c_);
  EXPECT_EQ(verdict.status, GetParam() ? Status::kPassed : Status::kSkipped) << verdict.reason;
  EXPECT_TRUE((GetParam() ? verdict.note : verdict.reason).starts_with(kMasksWithState)) << verdict.note;
}

// With state or without, one mask for all seeds is no draw.
TEST(JudgeRnn, StateThatIsClaimedMustShow) {
  Case c = rnn_case(BACKGAUGE_LSTM, 0.5);
  c.T = 5;
  c.B = 3;
  Puppet puppet;
  puppet.claims.dropout_has_state = 1;
  puppet.seeds = [](backgauge_attributes a) { return a.seed = a.seed2 = 1, a; };
  expect_failed(judge(puppet, c), "dropout mask: the same with another seed (seed");
}

TEST(JudgeRnn, AClaimOfStateSaysNothingWhereNoMaskIsDrawn) {
  Puppet puppet;
  puppet.claims.dropout_has_state = 1;
  const Verdict verdict = judge(puppet, rnn_case(BACKGAUGE_LSTM, 0));
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.note.find(kMasksWithState), std::string::npos) << verdict.note;
}

TEST(JudgeRnn, SkipsWhatIsNotClaimed) {
  Puppet puppet;
  puppet.claims.rnn_modes = BACKGAUGE_BIT(BACKGAUGE_GRU);
  EXPECT_EQ(judge(puppet, rnn_case()).reason, "rnn_mode lstm is not claimed");
  puppet.claims.directions = BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL);
  EXPECT_EQ(judge(puppet, rnn_case(BACKGAUGE_GRU)).reason, "direction bi is not claimed");
  puppet.claims.input_modes = BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT);
  EXPECT_EQ(judge(puppet, rnn_case(BACKGAUGE_GRU)).reason, "input_mode linear is not claimed");
  Puppet without_dropout;
  without_dropout.claims.no_dropout = 1;
  EXPECT_EQ(judge(without_dropout, rnn_case(BACKGAUGE_GRU, 0.5)).reason, "dropout between 0 and 1 is not claimed");
  EXPECT_EQ(judge(without_dropout, rnn_case(BACKGAUGE_GRU, 1)).status, Status::kPassed);
}

TEST(JudgeRnn, SkipsMalformedCallsMadeFromWhatIsNotClaimed) {
  Puppet puppet;
  puppet.claims.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  puppet.claims.input_modes = BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT);
  InProcessRunner runner(puppet.table);
  std::map<std::pair<Status, std::string>, int> seen;
  for (const backgauge_op op : {BACKGAUGE_CUDNN_RNN_BACKPROP, BACKGAUGE_CUDNN_RNN}) {
    for (std::uint64_t number = 0; number < malformed_count(op, BACKGAUGE_FLOAT32); number += 7) {
      const Verdict verdict = judge_refusal(runner, {op, BACKGAUGE_FLOAT32, number});
      ++seen[{verdict.status, verdict.reason}];
    }
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_GT((seen[{Status::kPassed, ""}]), 20);
  EXPECT_GT((seen[{Status::kSkipped, "input_mode auto is not claimed"}]), 20);
  EXPECT_GT((seen[{Status::kSkipped, "input_mode skip is not claimed"}]), 20);
}

TEST(JudgeRnn, AForwardIsPartOfTheClaim) {
  Puppet puppet;
  puppet.table.forward = nullptr;
  expect_failed(judge(puppet, rnn_case()), "has no forward");
}

TEST(JudgeRnn, PrepareMustAgreeWithItself) {
  Puppet puppet;
  int calls = 0;
  puppet.after_prepare = [&](backgauge_plan& plan) { plan.reserve_space_length += ++calls > 1 ? 1 : 0; };
  expect_failed(judge(puppet, rnn_case()), "prepare asked for a reserve_space of");
}

TEST(JudgeRnn, RefusedProblemsMustBeRefused) {
  Filled filled = fill(rnn_case());
  for (const char* name : {"input_h", "output_h_backprop"}) {
    Problem problem = filled.problem;
    for (Tensor& tensor : problem.inputs) {
      if (tensor.name == name) tensor.shape[2] += 1;
    }
    Puppet puppet;
    puppet.claims.op = problem.op;
    EXPECT_EQ(judge_case(puppet.table, problem, filled.facts, {}).status, Status::kPassed) << name;
    puppet.table.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
    expect_failed(judge_case(puppet.table, problem, filled.facts, {}),
                  "run answered ok to a call that must be refused");
  }
  Problem problem = filled.problem;
  problem.attributes.dropout = 2;
  Puppet puppet;
  puppet.claims.op = problem.op;
  puppet.table.forward = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
  expect_failed(judge_case(puppet.table, problem, filled.facts, {}),
                "forward answered ok to a call that must be refused");
}

}  // namespace
}  // namespace backgauge
