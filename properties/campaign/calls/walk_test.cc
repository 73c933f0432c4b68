// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/walk.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "properties/judge/testing/scripted_implementation.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

using testing::output_at;
using testing::ScriptedImplementation;

TEST(WalkOrder, HasEveryOrderedPairOnceAndThenGoesBackAndForth) {
  for (const int count : {2, 3, 7, 40}) {
    const int pairs = count * (count - 1);
    const std::vector<int> order = walk_order(count, pairs + 1 + 30, 5);
    std::set<std::pair<int, int>> seen;
    for (int k = 0; k < pairs; ++k) seen.insert({order[k], order[k + 1]});
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(pairs)) << count;
    for (int k = pairs + 1; k + 2 < static_cast<int>(order.size()); k += 3) EXPECT_EQ(order[k], order[k + 2]);
  }
  EXPECT_NE(walk_order(40, 2000, 1), walk_order(40, 2000, 2));
  EXPECT_EQ(walk_order(40, 2000, 1).size(), 2000u);
}

TEST(WalkConfigurations, DifferAndComeInPairsOfOneShape) {
  const std::vector<Case> cases =
      walk_configurations({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_CUDNN_RNN_BACKPROP}, 40, 1);
  ASSERT_EQ(cases.size(), 40u);
  std::set<std::string> lines;
  for (const Case& c : cases) lines.insert(to_string(c));
  EXPECT_EQ(lines.size(), 40u);
  for (std::size_t k = 3; k < 40; k += 4) {
    Case twin = cases[k];
    twin.seed = cases[k - 1].seed;
    EXPECT_EQ(twin, cases[k - 1]);
  }
}

TEST(WalkConfigurations, HaveSiblingsOfWhichOneThingDiffers) {
  for (const backgauge_op op :
       {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    const std::vector<Case> cases = walk_configurations({op}, 40, 3);
    std::set<std::string> changed;
    for (std::size_t k = 2; k < 40; k += 4) {
      const Case &one = cases[k - 1], &other = cases[k];
      changed.insert(one.dtype != other.dtype                 ? "dtype"
                     : one.direction != other.direction       ? "attribute"
                     : one.use_peephole != other.use_peephole ? "attribute"
                     : one.H != other.H                       ? "shape"
                     : one.B != other.B                       ? "batch"
                     : one.seq_len_max != other.seq_len_max   ? "steps"
                     : one.rnn_mode != other.rnn_mode         ? "mode"
                                                              : "nothing");
    }
    for (const char* what : {"dtype", "attribute", "shape", "batch"}) EXPECT_TRUE(changed.contains(what)) << what;
  }
}

Walk walk_of(ScriptedImplementation& scripted, backgauge_op op) {
  scripted.claim(op);
  InProcessRunner runner(scripted.table);
  return walk(runner, {.ops = {op}, .configurations = 12, .calls = 200});
}

TEST(Walk, PassesWhatKeepsNothing) {
  for (const backgauge_op op :
       {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    ScriptedImplementation scripted;
    const Walk done = walk_of(scripted, op);
    EXPECT_EQ(done.failure, "");
    EXPECT_EQ(done.configurations, 12);
    EXPECT_EQ(done.calls, 200);
    EXPECT_EQ(done.pairs, 12 * 11);
    EXPECT_TRUE(done.bits_compared);
    EXPECT_EQ(scripted.runs, 200 + 200 / 5 + 200 / 7);  // two gradients of one forward, calls that are refused
  }
}

// What stays behind of a large call shows in the next smaller one.
TEST(Walk, FindsWhatOneCallLeavesToTheNextAndNamesBoth) {
  ScriptedImplementation scripted;
  std::int64_t kept = 0;
  scripted.after_run = [&](const backgauge_call& call) {
    const std::int64_t elements = backgauge_elements(backgauge_find(call.outputs, call.num_outputs, "dicfo"));
    if (call.dtype == BACKGAUGE_FLOAT32 && kept > elements) output_at(call, "dicfo", 0) += 1;
    kept = elements;
  };
  const Walk done = walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  EXPECT_NE(done.failure.find("other bits than in its first call: dicfo["), std::string::npos) << done.failure;
  ASSERT_TRUE(done.failed && done.before);
  EXPECT_NE(done.failed, done.before);
  EXPECT_LT(done.calls, 200);
}

// A cache by shape is only right until the same shape comes with other values.
TEST(Walk, FindsACacheByShape) {
  ScriptedImplementation scripted;
  std::map<std::pair<std::int64_t, std::int64_t>, float> cache;
  scripted.after_run = [&](const backgauge_call& call) {
    const backgauge_tensor* dicfo = backgauge_find(call.outputs, call.num_outputs, "dicfo");
    if (call.dtype != BACKGAUGE_FLOAT32) return;
    float& value = output_at(call, "dicfo", 0);
    const auto [found, is_new] = cache.try_emplace({dicfo->shape[0], dicfo->shape[1]}, value);
    if (!is_new && scripted.runs % 2 == 0) value = found->second;
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD).failure, "");
}

void spoil(const backgauge_call& call, const char* output) {
  if (call.dtype == BACKGAUGE_FLOAT32) output_at(call, output, 0) += 1;
}

TEST(Walk, FindsWhatARefusedCallLeaves) {
  ScriptedImplementation scripted;
  bool refused = false;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    refused = refused || !validate_shapes(call).ok();
    return BACKGAUGE_OK;
  };
  scripted.after_run = [&](const backgauge_call& call) {
    if (refused) spoil(call, "dicfo");
    refused = false;
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD).failure, "");
}

TEST(Walk, FindsAnotherNumberOfThreads) {
  ScriptedImplementation scripted;
  std::int32_t before = 0;
  scripted.after_run = [&](const backgauge_call& call) {
    if (call.num_threads < before) spoil(call, "dicfo");
    before = call.num_threads;
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD).failure, "");
}

// forward A, forward B, gradient A, where the gradient takes what the last forward has left.
TEST(Walk, FindsWhatTheLastForwardLeavesToAnyGradient) {
  ScriptedImplementation scripted;
  std::int64_t made = 0;
  scripted.after_forward = [&](const backgauge_call& call) {
    made = call.inputs[0].shape[0] * 100 + call.inputs[0].shape[1];
  };
  scripted.after_run = [&](const backgauge_call& call) {
    if (made != call.inputs[0].shape[0] * 100 + call.inputs[0].shape[1]) spoil(call, "params_backprop");
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_CUDNN_RNN_BACKPROP).failure, "");
}

TEST(Walk, FindsAForwardThatServesOneGradientOnly) {
  ScriptedImplementation scripted;
  int forwards = 0, gradients = 0;
  scripted.after_forward = [&](const backgauge_call&) { ++forwards; };
  scripted.after_run = [&](const backgauge_call& call) {
    if (++gradients > forwards) {
      spoil(call, "params_backprop");
      gradients = forwards;
    }
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_CUDNN_RNN_BACKPROP).failure, "");
}

TEST(Walk, ComparesNoBitsThatAreNotPromisedButSeesTrouble) {
  ScriptedImplementation scripted;
  scripted.claim(&Claims::determinism, BACKGAUGE_NOT_DETERMINISTIC);
  scripted.after_run = [&](const backgauge_call& call) {
    if (call.dtype == BACKGAUGE_FLOAT32) output_at(call, "dicfo", 0) += static_cast<float>(scripted.runs);
  };
  const Walk done = walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  EXPECT_EQ(done.failure, "");
  EXPECT_FALSE(done.bits_compared);

  const int last = scripted.runs;
  scripted.before = [&](const backgauge_call&, backgauge_message&) {
    return scripted.runs == last + 30 ? BACKGAUGE_INTERNAL : BACKGAUGE_OK;
  };
  EXPECT_NE(walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD).failure, "");
}

TEST(Walk, StaysWithinTheClaims) {
  ScriptedImplementation scripted;
  scripted.claim(&Claims::least_B, 1000);
  const Walk done = walk_of(scripted, BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  EXPECT_EQ(done.configurations, 0);
  EXPECT_EQ(done.calls, 0);
  EXPECT_EQ(scripted.runs, 0);
}

}  // namespace
}  // namespace backgauge
