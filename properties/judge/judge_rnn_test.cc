// SPDX-License-Identifier: Apache-2.0
// judge_case on CudnnRNNBackprop: forward, masks, reserve_space, gradient.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using testing::expect_failed;
using testing::input_at;
using testing::judge;
using testing::net_case;
using testing::output_at;
using testing::ScriptedImplementation;

Case rnn_case(backgauge_rnn_mode mode = BACKGAUGE_LSTM, double dropout = 0) { return net_case(mode, dropout); }

TEST(JudgeRnn, PassesWhatIsRight) {
  for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const double dropout : {0.0, 0.5, 1.0}) {
      for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
        Case c = rnn_case(mode, dropout);
        c.dtype = dtype;
        ScriptedImplementation scripted;
        const Verdict verdict = judge(scripted, c);
        EXPECT_EQ(verdict.status, Status::kPassed) << to_string(c) << "\n" << verdict_text(verdict);
        EXPECT_EQ(verdict.tensors.size(), mode == BACKGAUGE_LSTM ? 7u : 5u);
      }
    }
  }
}

TEST(JudgeRnn, FailsAWrongForward) {
  ScriptedImplementation scripted;
  scripted.after_forward = [](const backgauge_call& call) { output_at(call, "output_c", 3) += 1; };
  expect_failed(judge(scripted, rnn_case()), "output_c[0,1,0]");
}

TEST(JudgeRnn, NamesTheBlockOfAWrongParameter) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) { output_at(call, "params_backprop", 0) += 1; };
  const Verdict verdict = judge(scripted, rnn_case());
  expect_failed(verdict, "params_backprop[0]");
  expect_failed(verdict, "layer 0 forward, W[0,0] of gate i");
}

TEST(JudgeRnn, ReserveSpaceTravelsUntouchedAndMustStaySo) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) { input_at(call, "reserve_space", 0) = 7; };
  expect_failed(judge(scripted, rnn_case()), "changed the input reserve_space (element 0 of");
  scripted.claim(&Claims::changes_reserve_space, true);
  EXPECT_EQ(judge(scripted, rnn_case()).status, Status::kPassed);  // restored: the implementation checks what it reads
}

TEST(JudgeRnn, ReserveSpaceIsNotDecoded) {
  // A signalling NaN does not survive a conversion.
  static constexpr std::uint32_t kSignalling = 0x7fa00001;
  ScriptedImplementation scripted;
  scripted.after_forward = [](const backgauge_call& call) {
    std::memcpy(&output_at(call, "reserve_space", 0), &kSignalling, sizeof kSignalling);
  };
  int seen = 0;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &input_at(call, "reserve_space", 0), sizeof bits);
    seen += bits == kSignalling ? 1 : 0;
    const float one = 1;
    std::memcpy(&input_at(call, "reserve_space", 0), &one, sizeof one);
    return BACKGAUGE_OK;
  };
  scripted.claim(&Claims::changes_reserve_space, true);
  EXPECT_EQ(judge(scripted, rnn_case()).status, Status::kPassed);
  EXPECT_EQ(seen, 2);
}

TEST(JudgeRnn, MasksMustBePlausible) {
  ScriptedImplementation values;
  values.after_dropout_mask = [](std::uint8_t* keep, std::size_t) { keep[1] = 2; };
  expect_failed(judge(values, rnn_case(BACKGAUGE_GRU, 0.5)), "dropout mask of gap 0: element 1 is 2");
  Case c = rnn_case(BACKGAUGE_GRU, 0.5);
  c.T = 7;
  c.B = 5;
  ScriptedImplementation all_kept;
  all_kept.after_dropout_mask = [](std::uint8_t* keep, std::size_t count) { std::fill(keep, keep + count, 1); };
  expect_failed(judge(all_kept, c), "dropout mask of gap 0: keeps 210 of 210 elements");
}

TEST(JudgeRnn, NoMaskIsWrittenPastItsEnd) {
  ScriptedImplementation scripted;
  scripted.after_dropout_mask = [](std::uint8_t* keep, std::size_t count) { keep[count] = 1; };
  expect_failed(judge(scripted, rnn_case(BACKGAUGE_GRU, 0.5)),
                "dropout_mask wrote past the end of keep (byte 36 of 36)");
}

TEST(JudgeRnn, TheMaskThatIsRevealedIsTheOneThatIsJudged) {
  ScriptedImplementation scripted;
  scripted.after_dropout_mask = [](std::uint8_t* keep, std::size_t) { keep[0] ^= 1; };
  EXPECT_EQ(judge(scripted, rnn_case(BACKGAUGE_LSTM, 0.5)).status, Status::kFailed);
}

// Enough elements for 64 bits of mask; with masks that are available, and with masks that are not.
class DropoutSeeds : public ::testing::TestWithParam<bool> {
 protected:
  DropoutSeeds() : c_(rnn_case(BACKGAUGE_LSTM, 0.5)) {
    c_.T = 5;
    c_.B = 3;
    if (!GetParam()) scripted_.table.dropout_mask = nullptr;
  }
  void expect_wrong_seeds(const std::string& reason) {
    expect_failed(judge(scripted_, c_), "dropout mask: ");
    expect_failed(judge(scripted_, c_), reason);
  }
  Case c_;
  ScriptedImplementation scripted_;
};
INSTANTIATE_TEST_SUITE_P(MasksAvailable, DropoutSeeds, ::testing::Bool());

TEST_P(DropoutSeeds, MustDecideTheMask) {
  EXPECT_EQ(judge(scripted_, c_).status, Status::kPassed) << judge(scripted_, c_).reason;
  scripted_.seeds = [](backgauge_attributes a) { return a.seed = a.seed2 = 1, a; };
  expect_wrong_seeds("not change with seed (seed");
}

TEST_P(DropoutSeeds, MustBothDecideTheMask) {
  scripted_.seeds = [](backgauge_attributes a) { return a.seed2 = 1, a; };
  expect_wrong_seeds("not change with seed2 (seed");
  scripted_.seeds = [](backgauge_attributes a) { return a.seed = 1, a; };
  expect_wrong_seeds("not change with seed (seed");
}

TEST_P(DropoutSeeds, MustAloneDecideTheMask) {
  std::int64_t calls = 0;
  scripted_.seeds = [&calls](backgauge_attributes a) { return a.seed2 += ++calls, a; };
  expect_wrong_seeds("in a second forward with the same seed and seed2");
  scripted_.claim(&Claims::determinism, BACKGAUGE_NOT_DETERMINISTIC);
  EXPECT_EQ(judge(scripted_, c_).status, Status::kFailed);
  scripted_.claim(&Claims::dropout_has_state, true);
  const Verdict verdict = judge(scripted_, c_);
  EXPECT_EQ(verdict.status, GetParam() ? Status::kPassed : Status::kSkipped) << verdict.reason;
  EXPECT_TRUE((GetParam() ? verdict.note : verdict.reason).starts_with(kMasksWithState)) << verdict.note;
}

// One mask for all seeds is wrong with and without state.
TEST(JudgeRnn, StateThatIsClaimedMustShow) {
  Case c = rnn_case(BACKGAUGE_LSTM, 0.5);
  c.T = 5;
  c.B = 3;
  ScriptedImplementation scripted;
  scripted.claim(&Claims::dropout_has_state, true);
  scripted.seeds = [](backgauge_attributes a) { return a.seed = a.seed2 = 1, a; };
  expect_failed(judge(scripted, c), "dropout mask: the mask does not change with seed (seed");
}

TEST(JudgeRnn, AClaimOfStateSaysNothingWhereNoMaskIsDrawn) {
  ScriptedImplementation scripted;
  scripted.claim(&Claims::dropout_has_state, true);
  const Verdict verdict = judge(scripted, rnn_case(BACKGAUGE_LSTM, 0));
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.note.find(kMasksWithState), std::string::npos) << verdict.note;
}

TEST(JudgeRnn, SkipsWhatIsNotClaimed) {
  ScriptedImplementation scripted;
  scripted.claim(&Claims::rnn_modes, BACKGAUGE_BIT(BACKGAUGE_GRU));
  EXPECT_EQ(judge(scripted, rnn_case()).reason, "rnn_mode lstm is not claimed");
  scripted.claim(&Claims::input_modes, BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT));
  EXPECT_EQ(judge(scripted, rnn_case(BACKGAUGE_GRU)).reason, "input_mode linear is not claimed");
  scripted.claim(&Claims::directions, BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL));
  EXPECT_EQ(judge(scripted, rnn_case(BACKGAUGE_GRU)).reason, "direction bi is not claimed");
  ScriptedImplementation without_dropout;
  without_dropout.claim(&Claims::dropout, false);
  EXPECT_EQ(judge(without_dropout, rnn_case(BACKGAUGE_GRU, 0.5)).reason, "dropout between 0 and 1 is not claimed");
  EXPECT_EQ(judge(without_dropout, rnn_case(BACKGAUGE_GRU, 1)).status, Status::kPassed);
}

TEST(JudgeRnn, SkipsMalformedCallsMadeFromWhatIsNotClaimed) {
  ScriptedImplementation scripted;
  scripted.claim(BACKGAUGE_CUDNN_RNN_BACKPROP);
  scripted.claim(&Claims::input_modes, BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT));
  InProcessRunner runner(scripted.table);
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
  ScriptedImplementation scripted;
  scripted.table.forward = nullptr;
  expect_failed(judge(scripted, rnn_case()), "has no forward");
}

TEST(JudgeRnn, PrepareMustAgreeWithItself) {
  ScriptedImplementation scripted;
  int calls = 0;
  scripted.after_prepare = [&](backgauge_plan& plan) { plan.reserve_space_length += ++calls > 1 ? 1 : 0; };
  expect_failed(judge(scripted, rnn_case()), "prepare asked for a reserve_space of");
}

}  // namespace
}  // namespace backgauge
