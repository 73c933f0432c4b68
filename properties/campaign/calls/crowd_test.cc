// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/crowd.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge {
namespace {

using testing::ScriptedImplementation;

Crowd crowd_of(ScriptedImplementation& scripted, backgauge_op op, int sets = 1) {
  scripted.claim(op);
  InProcessRunner runner(scripted.table);
  return crowd(runner, {.ops = {op}, .sets = sets});
}

TEST(Crowd, PassesWhatSharesNothing) {
  for (const backgauge_op op :
       {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    ScriptedImplementation scripted;
    const Crowd done = crowd_of(scripted, op);
    EXPECT_EQ(done.worst.status, Status::kPassed) << done.worst.reason;
    EXPECT_EQ(done.sets, 1);
    EXPECT_GE(done.overlapped, 4 * TogetherEnd{}.overlaps);
    EXPECT_GE(done.calls, done.overlapped);
  }
}

// What a call has put into static memory must be there when it needs it.
class SharedScratch : public ::testing::TestWithParam<backgauge_determinism> {};
INSTANTIATE_TEST_SUITE_P(Claims, SharedScratch,
                         ::testing::Values(BACKGAUGE_BITWISE, BACKGAUGE_BITWISE_PER_THREAD_COUNT,
                                           BACKGAUGE_NOT_DETERMINISTIC));

TEST_P(SharedScratch, IsNoticed) {
  static std::atomic<const void*> scratch;
  ScriptedImplementation scripted;
  scripted.claim(&Claims::determinism, GetParam());
  scripted.before = [](const backgauge_call& call, backgauge_message&) {
    scratch = call.outputs[1].data;
    return BACKGAUGE_OK;
  };
  scripted.after_run = [](const backgauge_call& call) {
    if (scratch != call.outputs[1].data) {
      for (std::int32_t k = 0; k < call.num_outputs; ++k) {
        const backgauge_tensor& output = call.outputs[k];
        std::memset(output.data, 0x41,
                    static_cast<std::size_t>(backgauge_elements(&output)) * backgauge_dtype_bytes(output.dtype));
      }
    }
  };
  const Crowd done = crowd_of(scripted, BACKGAUGE_BLOCK_LSTM_GRAD_V2, 4);
  EXPECT_EQ(done.worst.status, Status::kFailed) << done.worst.reason;
  EXPECT_NE(done.worst.reason.find("in concurrent calls: block_lstm_grad_v2 "), std::string::npos);
  EXPECT_EQ(done.cases.size(), 4u);
}

// Zeros, equal values, empty tensors or a gap that drops everything would hide that one call uses the memory of
// another.
TEST(CrowdSets, HaveValuesInAllInputsAndStepsToBeInterrupted) {
  for (const backgauge_op op : gradient_ops()) {
    const std::vector<std::vector<Case>> sets = crowd_sets({op}, 12, 3);
    ASSERT_EQ(sets.size(), 12u);
    for (const std::vector<Case>& set : sets) {
      ASSERT_EQ(set.size(), 4u);
      for (const Case& c : set) {
        const std::string line = to_string(c);
        EXPECT_EQ(c.data, DataProfile::kStratified) << line;
        EXPECT_GE(std::min({c.B, c.I, c.H}), 7) << line;
        EXPECT_LT(c.dropout, 1) << line;
        EXPECT_TRUE(!traits_of(op).has_steps || steps_taken(c) >= 4) << line;
      }
      Case twin = set[3];
      twin.seed = set[2].seed;
      EXPECT_EQ(twin, set[2]);
      EXPECT_NE(set[3].seed, set[2].seed);
    }
  }
}

TEST(Crowd, GivesEveryOpASet) {
  for (const backgauge_op op : gradient_ops()) {
    ScriptedImplementation scripted;
    scripted.claim(op);
    InProcessRunner runner(scripted.table);
    EXPECT_GE(crowd(runner, {.ops = gradient_ops(), .sets = 3}).sets, 1);
  }
}

TEST(Crowd, NoticesGuardsAndStates) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) {
    const backgauge_tensor& last = call.outputs[call.num_outputs - 1];
    static_cast<unsigned char*>(
        last.data)[static_cast<std::size_t>(backgauge_elements(&last)) * backgauge_dtype_bytes(last.dtype)] = 0;
  };
  EXPECT_EQ(crowd_of(scripted, BACKGAUGE_BLOCK_LSTM_GRAD_V2).worst.status, Status::kFailed);
}

TEST(Crowd, OfWhatIsNotClaimedIsNone) {
  ScriptedImplementation scripted;
  scripted.claim(BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  InProcessRunner runner(scripted.table);
  EXPECT_EQ(crowd(runner, {.ops = {BACKGAUGE_BLOCK_LSTM_GRAD_V2}, .sets = 2}).sets, 0);
  std::string error;
  const Case c = *parse_case("block_lstm_grad_v2 t2b2i2h2 peep=0 dt=f32 data=strat:0x1", error);
  const CrowdVerdict one = judge_at_once(runner, {c, c}, 1);
  EXPECT_EQ(one.verdict.status, Status::kSkipped);
  EXPECT_NE(one.verdict.reason.find("BlockLSTMGradV2 is not claimed"), std::string::npos);
}

}  // namespace
}  // namespace backgauge
