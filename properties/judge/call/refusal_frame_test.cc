// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/refusal_frame.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "properties/judge/runner/refusals.h"
#include "properties/judge/testing/judge_testing.h"
#include "reference/contract/validate.h"

namespace backgauge::testing {
namespace {

// A scripted implementation that refuses a call and does something else as well.
class RefusedCall : public ::testing::Test {
 protected:
  using Act = std::function<void(const backgauge_call&, backgauge_message&)>;

  RefusedCall() { scripted_.claim(BACKGAUGE_BLOCK_LSTM_GRAD_V2); }

  Verdict judged_with(Act act) {
    scripted_.before = [act](const backgauge_call& call, backgauge_message& message) {
      std::strcpy(message.text, "refused");
      act(call, message);
      return BACKGAUGE_INVALID_ARGUMENT;
    };
    return judge_refusal(runner_, {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_FLOAT32, 0});
  }

  ScriptedImplementation scripted_;
  InProcessRunner runner_{scripted_.table};
};

TEST_F(RefusedCall, IsJudgedInTheSameMemoryAgain) {
  const void* frames[2] = {};
  for (const void*& frame : frames) {
    const Verdict verdict = judged_with([&](const backgauge_call& call, backgauge_message&) { frame = &call; });
    EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
  }
  EXPECT_EQ(frames[0], frames[1]);
}

TEST_F(RefusedCall, MustNotOverrunTheMessage) {
  expect_failed(judged_with([](const backgauge_call&, backgauge_message& message) {
                  volatile char* text = message.text;
                  text[sizeof message.text] = '\0';
                }),
                "run wrote past the end of the message (byte 512 of 512)");
  expect_failed(judged_with([](const backgauge_call&, backgauge_message& message) {
                  volatile char* text = message.text;
                  text[-2] = '\0';
                }),
                "run wrote before the beginning of the message (byte -2 of 512)");
  EXPECT_EQ(judged_with([](const backgauge_call&, backgauge_message&) {}).status, Status::kPassed);
}

TEST_F(RefusedCall, MustNotWriteToTheCall) {
  expect_failed(judged_with([](const backgauge_call& call, backgauge_message&) {
                  const_cast<backgauge_call&>(call).workspace_bytes = 0;
                }),
                "run wrote to the call");
  const auto restores = [](volatile unsigned char* byte) {
    const unsigned char before = *byte;
    *byte = static_cast<unsigned char>(~before);
    *byte = before;
  };
  const auto writable = [](const void* data) { return static_cast<volatile unsigned char*>(const_cast<void*>(data)); };
  expect_failed(
      judged_with([&](const backgauge_call& call, backgauge_message&) { restores(writable(&call.outputs[1].shape)); }),
      "run wrote to the description of " + std::string(find_op(BACKGAUGE_BLOCK_LSTM_GRAD_V2)->outputs[1].name));
  expect_failed(
      judged_with([&](const backgauge_call& call, backgauge_message&) { restores(writable(call.inputs[2].name)); }),
      "run wrote to the name of cs_prev");
  expect_failed(
      judged_with([&](const backgauge_call& call, backgauge_message&) { restores(writable(call.inputs[1].data)); }),
      "run wrote to the input x");
  expect_failed(
      judged_with([&](const backgauge_call& call, backgauge_message&) { restores(writable(call.inputs[0].data)); }),
      "run wrote to the input seq_len_max");
}

TEST_F(RefusedCall, MayWriteItsMessageAndReadItsInputs) {
  const Verdict verdict = judged_with([](const backgauge_call& call, backgauge_message& message) {
    std::memset(message.text, 'x', sizeof message.text - 1);
    message.text[0] = static_cast<const char*>(call.inputs[1].data)[0];
  });
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
}

TEST_F(RefusedCall, IsOverWhenItHasReturned) {
  backgauge_message* kept = nullptr;
  const auto keep = [&](const backgauge_call&, backgauge_message& message) { kept = &message; };
  EXPECT_EQ(judged_with(keep).status, Status::kPassed);
  kept->text[0] = '!';
  expect_failed(judged_with(keep),
                "the malformed call before this one wrote to the message after the call had returned");
  EXPECT_EQ(judged_with(keep).status, Status::kPassed);
}

// prepare writes past the plan, as if the header declared a longer one.
TEST_F(RefusedCall, IsMadeFromAPlanThatIsNotOverrun) {
  scripted_.after_prepare = [](backgauge_plan& plan) {
    volatile std::uint64_t* after = reinterpret_cast<std::uint64_t*>(&plan + 1);
    *after = 0;
  };
  expect_failed(judged_with([](const backgauge_call&, backgauge_message&) {}),
                "prepare wrote past the end of the plan (byte 24 of 24)");
}

// The fault is that the call was accepted, not what was then computed.
TEST_F(RefusedCall, ThatIsAcceptedIsReportedAsThat) {
  scripted_.table.run = [](const backgauge_call* call, backgauge_message*) {
    const_cast<backgauge_call*>(call)->num_threads = 0;
    return BACKGAUGE_OK;
  };
  expect_failed(judge_refusal(runner_, {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_FLOAT32, 0}),
                "run accepted a call that must be refused");
}

TEST_F(RefusedCall, OfEveryKindIsRefusedFromItsFrame) {
  for (const backgauge_op op : {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    scripted_.claim(op);
    const Refusals answers = refusals(scripted_.table, op, BACKGAUGE_HALF, 3);
    EXPECT_GT(answers.calls, 100u);
    for (const WrongAnswer& wrong : answers.wrong) ADD_FAILURE() << wrong.call << ": " << wrong.fault;
  }
}

// A forward that saves nothing: some changes of reserve_space leave the call legal, and it must not be accused of
// accepting it.
TEST(Refusals, OfAnEmptyReserveSpaceAreThoseOfIllegalCalls) {
  ScriptedImplementation scripted;
  scripted.claim(BACKGAUGE_CUDNN_RNN_BACKPROP);
  scripted.after_prepare = [](backgauge_plan& plan) { plan.reserve_space_length = 0; };
  scripted.before = [](const backgauge_call& call, backgauge_message& message) {
    const Validation validation = validate(call, 0);
    std::strncpy(message.text, validation.refusal.c_str(), sizeof message.text - 1);
    return validation.ok() ? BACKGAUGE_OK : BACKGAUGE_INVALID_ARGUMENT;
  };
  InProcessRunner runner(scripted.table);
  for (const backgauge_op op : {BACKGAUGE_CUDNN_RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    std::uint64_t legal = 0;
    const std::uint64_t all = malformed_count(op, BACKGAUGE_FLOAT32);
    for (std::uint64_t number = 0; number < all; ++number) {
      const Malformed which{op, BACKGAUGE_FLOAT32, number};
      const Verdict verdict = judge_refusal(runner, which);
      EXPECT_EQ(verdict.status, Status::kPassed) << malformed_description(which) << ": " << verdict.reason;
      legal += verdict.note.starts_with("not made: the call is legal") ? 1 : 0;
    }
    EXPECT_GT(legal, 0u);
    EXPECT_LT(legal, all / 20);
  }
}

}  // namespace
}  // namespace backgauge::testing
