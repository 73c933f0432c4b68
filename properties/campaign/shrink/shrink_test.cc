// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/shrink/shrink.h"

#include <gtest/gtest.h>

#include <thread>

namespace backgauge {
namespace {

const auto never = [] { return false; };

Case parsed(const std::string& line) {
  std::string error;
  const auto c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  return c.value_or(Case{});
}

Verdict wrong(const char* tensor) {
  TensorReport right, bad;
  right.name = "x_grad";
  bad.name = tensor;
  bad.bad = 1;
  return {Status::kFailed, "some element", {right, bad}};
}

const Verdict kPassed{Status::kPassed, "", {}};
const char* const kStart = "block_lstm_grad_v2 t5b7i9h17 peep=1 clip=0.5 seq=3 dt=f16 data=zeros:0x77aa";

TEST(FailureOf, TellsWhatIsTheSame) {
  const auto reason = [](Status status, const char* text) { return failure_of({status, text, {}}); };
  EXPECT_EQ(reason(Status::kFailed, "wrote past the end of dicfo (element 3 of 12); and 2 more"),
            "wrote past the end of dicfo");
  EXPECT_EQ(reason(Status::kFailed, "changed the input h_grad (element 0 of 3)"), "changed the input h_grad");
  EXPECT_EQ(reason(Status::kFailed, "not repeatable: x_grad[0,2]: 1, then 2"), "not repeatable: x_grad");
  EXPECT_EQ(reason(Status::kFailed, "run returned INTERNAL: no room for 17 things"), "run returned INTERNAL");
  EXPECT_EQ(reason(Status::kBroken, "crash: SIGSEGV"), "BROKEN crash");
  EXPECT_EQ(reason(Status::kFailed, "prepare asked for 17 bytes of block_lstm_grad_v2 in float32"),
            "prepare asked for bytes of block_lstm_grad_v2 in float32");
  EXPECT_EQ(reason(Status::kFailed,
                   "malformed call lstm_block_cell_grad f16 peephole=1: w: dimension 0 = 0: run accepted a call"),
            "malformed call");
  EXPECT_EQ(reason(Status::kBroken, "harness: out of memory"), "");
  EXPECT_EQ(reason(Status::kMistrusted, "x"), "");
  EXPECT_EQ(failure_of(kPassed), "");

  Verdict verdict = wrong("w_grad");
  EXPECT_EQ(failure_of(verdict), "w_grad value");
  verdict.tensors[1].nonfinite = 1;
  EXPECT_EQ(failure_of(verdict), "w_grad non-finite");
  verdict.tensors[1].unwritten = 1;
  EXPECT_EQ(failure_of(verdict), "w_grad unwritten");
}

TEST(Shrink, FindsThePlainestCase) {
  const auto judge = [](const Case&) { return wrong("w_grad"); };
  const Shrunk shrunk = shrink(parsed(kStart), "w_grad value", judge, {}, never);
  EXPECT_EQ(to_string(shrunk.plainest), "block_lstm_grad_v2 t1b1i1h1 peep=0 order=ifco seq=1 dt=f32 data=plain:0x0");
  EXPECT_TRUE(shrunk.finished);
  EXPECT_FALSE(shrunk.flaky);
  EXPECT_LT(shrunk.executions, 20);
}

TEST(Shrink, KeepsWhatMatters) {
  const auto judge = [](const Case& c) {
    return c.B >= 3 && c.T > c.seq_len_max && c.use_peephole && c.H > 4 && c.seed % 4 == 2 ? wrong("w_grad") : kPassed;
  };
  const Shrunk shrunk = shrink(parsed(kStart), "w_grad value", judge, {}, never);
  EXPECT_EQ(to_string(shrunk.plainest), "block_lstm_grad_v2 t1b3i1h5 peep=1 order=ifco seq=0 dt=f32 data=plain:0x2");
}

TEST(Shrink, StaysWithItsFailure) {
  const auto judge = [](const Case& c) { return c.H > 2 ? wrong("w_grad") : wrong("b_grad"); };
  EXPECT_EQ(shrink(parsed(kStart), "w_grad value", judge, {}, never).plainest.H, 3);
}

TEST(Shrink, StaysWithCasesThatProveSomething) {
  const auto judge = [](const Case& c) {
    Verdict verdict = wrong("w_grad");
    verdict.tensors[0].vacuous = c.B < 2;
    return verdict;
  };
  EXPECT_EQ(shrink(parsed(kStart), "w_grad value", judge, {}, never).plainest.B, 2);
}

TEST(Shrink, LeavesGoldenVectors) {
  const auto judge = [](const Case& c) {
    return c.data == DataProfile::kGolden && c.H < 5 ? kPassed : wrong("w_grad");
  };
  const Case golden = parsed("block_lstm_grad_v2 t5b3i5h7 seq=3 dt=f32 data=golden:block_f32_tail");
  const Shrunk shrunk = shrink(golden, "w_grad value", judge, {}, never);
  EXPECT_EQ(to_string(shrunk.plainest), "block_lstm_grad_v2 t1b1i1h1 peep=0 order=ifco seq=1 dt=f32 data=plain:0x0");
}

TEST(Shrink, AFailureThatDoesNotRepeatIsFlaky) {
  int calls = 0;
  const auto judge = [&](const Case&) {
    ++calls;
    return kPassed;
  };
  const Shrunk shrunk = shrink(parsed(kStart), "w_grad value", judge, {}, never);
  EXPECT_TRUE(shrunk.flaky);
  EXPECT_EQ(shrunk.plainest, parsed(kStart));
  EXPECT_EQ(calls, 1);
}

TEST(Shrink, GivesTheBestSoFarAtItsLimits) {
  const auto judge = [](const Case& c) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return c.B >= 6 && c.I > 4 && c.H > 11 ? wrong("w_grad") : kPassed;
  };
  const Shrunk all = shrink(parsed(kStart), "w_grad value", judge, {}, never);
  EXPECT_TRUE(all.finished);
  ASSERT_GT(all.executions, 60);
  const Shrunk few = shrink(parsed(kStart), "w_grad value", judge, {.executions = 60}, never);
  EXPECT_EQ(few.executions, 60);
  EXPECT_FALSE(few.finished);
  EXPECT_NE(few.plainest, parsed(kStart));
  EXPECT_EQ(failure_of(judge(few.plainest)), "w_grad value");
  const Shrunk brief = shrink(parsed(kStart), "w_grad value", judge, {.time = std::chrono::milliseconds(20)}, never);
  EXPECT_FALSE(brief.finished);
  EXPECT_LE(brief.executions, 20);
  EXPECT_EQ(shrink(parsed(kStart), "w_grad value", judge, {}, [] { return true; }).executions, 0);
}

}  // namespace
}  // namespace backgauge
