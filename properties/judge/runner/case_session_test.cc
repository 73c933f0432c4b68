// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/case_session.h"

#include <gtest/gtest.h>

#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using testing::cell_case;
using testing::input_at;
using testing::net_case;
using testing::output_at;
using testing::ScriptedImplementation;

// A session of a case with a scripted implementation.
class CaseSessions : public ::testing::Test {
 protected:
  CaseSession& session(const Case& c) {
    scripted_.claim(c.op);
    problem_ = fill(c).problem;
    return session_.emplace(runner_, problem_);
  }

  ScriptedImplementation scripted_;
  InProcessRunner runner_{scripted_.table};
  Problem problem_;
  std::optional<CaseSession> session_;
};

TEST_F(CaseSessions, TheGradientReadsWhatTheLastForwardMade) {
  CaseSession& net = session(net_case(BACKGAUGE_LSTM, 0));
  float made = 0, read = 0;
  scripted_.after_forward = [&](const backgauge_call& call) { output_at(call, "output", 0) = made += 1; };
  scripted_.after_run = [&](const backgauge_call& call) { read = input_at(call, "output", 0); };
  net.forward({});
  net.gradient({});
  EXPECT_EQ(read, 1);
  EXPECT_EQ(net.repeat_forward({}).outputs.front().values[0], 2);
  net.gradient({});
  EXPECT_EQ(read, 1);
  net.forward({});
  net.gradient({});
  EXPECT_EQ(read, 3);
}

TEST_F(CaseSessions, OnlyAClaimLetsTheGradientChangeReserveSpace) {
  CaseSession& net = session(net_case(BACKGAUGE_GRU, 0));
  scripted_.after_run = [](const backgauge_call& call) { input_at(call, "reserve_space", 0) = 7; };
  net.forward({});
  EXPECT_EQ(net.gradient({}).violations.size(), 1u);
  scripted_.claim(&Claims::changes_reserve_space, true);
  CaseSession changed(runner_, problem_);
  changed.forward({});
  EXPECT_TRUE(changed.gradient({}).violations.empty());
}

TEST_F(CaseSessions, MasksBecomePartOfTheProblem) {
  CaseSession& net = session(net_case(BACKGAUGE_LSTM, 0.5));
  EXPECT_TRUE(net.draws_masks());
  net.forward({});
  const DropoutMasks masks = net.dropout_masks({});
  EXPECT_EQ(masks.result.status, BACKGAUGE_OK);
  ASSERT_EQ(masks.keep.size(), 1u);
  EXPECT_EQ(net.problem().keep, masks.keep);
  EXPECT_TRUE(problem_.keep.empty());
}

TEST_F(CaseSessions, MasksThatCannotBeHadAreUnavailable) {
  scripted_.table.dropout_mask = nullptr;
  CaseSession& net = session(net_case(BACKGAUGE_LSTM, 0.5));
  net.forward({});
  EXPECT_TRUE(net.dropout_masks({}).unavailable());
  const CaseOutputs outputs = net.run_all({});
  EXPECT_EQ(outputs.masks_unavailable, "the implementation has no dropout_mask function");
  EXPECT_FALSE(outputs.failure);
  EXPECT_EQ(scripted_.runs, 0);

  // Where none are drawn nothing is asked.
  CaseSession& plain = session(net_case(BACKGAUGE_LSTM, 0));
  EXPECT_FALSE(plain.draws_masks());
  EXPECT_EQ(plain.dropout_masks({}).result.status, BACKGAUGE_OK);
}

TEST_F(CaseSessions, RunsAllCallsInTheirOrder) {
  const CaseOutputs net = session(net_case(BACKGAUGE_LSTM, 0.5)).run_all({});
  EXPECT_FALSE(net.failure);
  std::vector<std::string> names;
  for (const Output& output : net.outputs) names.push_back(output.raw.name);
  EXPECT_EQ(names, (std::vector<std::string>{"output", "output_h", "output_c", "input_backprop", "input_h_backprop",
                                             "input_c_backprop", "params_backprop"}));
  EXPECT_EQ(session(cell_case()).run_all({}).outputs.size(), 5u);
}

TEST_F(CaseSessions, StopsAtTheFirstCallThatFails) {
  CaseSession& net = session(net_case(BACKGAUGE_LSTM, 0.5));
  scripted_.after_forward = [](const backgauge_call& call) { input_at(call, "input", 0) += 1; };
  const CaseOutputs outputs = net.run_all({});
  ASSERT_TRUE(outputs.failure);
  EXPECT_NE(outputs.failure->reason.find("changed the input input"), std::string::npos) << outputs.failure->reason;
  EXPECT_EQ(outputs.outputs.size(), 3u);
  EXPECT_EQ(scripted_.runs, 0);

  scripted_.after_forward = nullptr;
  scripted_.after_dropout_mask = [](std::uint8_t* keep, std::size_t count) { keep[count] = 1; };
  EXPECT_TRUE(net.run_all({}).failure);
  EXPECT_EQ(scripted_.runs, 0);
}

TEST_F(CaseSessions, ReportsElementsThatWereNeverWritten) {
  CaseSession& cell = session(cell_case());
  scripted_.table.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
  const CaseOutputs outputs = cell.run_all({});
  ASSERT_TRUE(outputs.failure);
  EXPECT_EQ(outputs.failure->reason, "left elements of cs_prev_grad unwritten");
  EXPECT_EQ(outputs.outputs.size(), 5u);
}

TEST_F(CaseSessions, ClaimsDecide) {
  CaseSession& net = session(net_case(BACKGAUGE_LSTM, 0.5));
  EXPECT_EQ(net.unclaimed(), "");
  EXPECT_TRUE(net.repeats());
  EXPECT_FALSE(net.changes_masks());
  scripted_.claim(&Claims::determinism, BACKGAUGE_NOT_DETERMINISTIC);
  scripted_.claim(&Claims::dropout_has_state, true);
  const CaseSession changed(runner_, problem_);
  EXPECT_FALSE(changed.repeats());
  EXPECT_TRUE(changed.changes_masks());
  EXPECT_FALSE(session(net_case(BACKGAUGE_LSTM, 0)).changes_masks());
  scripted_.claim(&Claims::dropout, false);
  EXPECT_EQ(session(net_case(BACKGAUGE_LSTM, 0.5)).unclaimed(), "dropout between 0 and 1 is not claimed");
  scripted_.claim(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  CaseSession other(runner_, problem_);
  EXPECT_FALSE(other.claims());
  EXPECT_EQ(other.unclaimed(), "CudnnRNNBackprop is not claimed");
}

}  // namespace
}  // namespace backgauge
