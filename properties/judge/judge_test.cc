// SPDX-License-Identifier: Apache-2.0
// judge_case on the LSTM ops, judge_outputs, and checks of dropout masks.
#include "properties/judge/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "properties/case/draw/inputs.h"
#include "properties/case/line/shaped_problem.h"
#include "properties/device/runtime.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/dropout_masks.h"
#include "properties/judge/testing/judge_testing.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using namespace testing;

TEST(Judge, AVerdictStartsBroken) {
  EXPECT_EQ(Verdict{}.status, Status::kBroken);
  EXPECT_EQ(Verdict{}.reason, "not judged");
}

TEST(Judge, PassesWhatIsRightInEveryDtypeAndPlacement) {
  for (const Case& base : {cell_case(), block_case()}) {
    for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Case c = base;
        c.dtype = dtype;
        c.seed = seed;
        ScriptedImplementation scripted;
        const Verdict verdict = judge(scripted, c, {.seed = seed});
        EXPECT_EQ(verdict.status, Status::kPassed) << to_string(c) << "\n" << verdict_text(verdict);
        EXPECT_EQ(verdict.reason, "");
        EXPECT_EQ(verdict.tensors.size(), c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? 8u : 5u);
        EXPECT_EQ(scripted.runs, runs_of(c.op));
      }
    }
  }
}

TEST(Judge, FailsOneWrongElementAnywhere) {
  for (const char* name : {"cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"}) {
    for (const std::int64_t element : {0, 6}) {
      ScriptedImplementation scripted;
      scripted.after_run = [&](const backgauge_call& call) { output_at(call, name, element) += 1; };
      expect_failed(judge(scripted, cell_case()), name);
    }
  }
}

TEST(Judge, FailsNanInfAndZeros) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.0f}) {
    ScriptedImplementation scripted;
    scripted.after_run = [&](const backgauge_call& call) {
      for (int k = 0; k < 84; ++k) output_at(call, "dicfo", k) = value;
    };
    const Verdict verdict = judge(scripted, cell_case());
    expect_failed(verdict, "dicfo[");
    EXPECT_EQ(verdict.tensors[1].bad, 84);
    EXPECT_EQ(verdict.tensors[1].nonfinite, value == 0 ? 0 : 84);
  }
}

TEST(Judge, FailsTheAnswerToAnotherCase) {
  ScriptedImplementation other;
  std::vector<float> answer;
  other.after_run = [&](const backgauge_call& call) {
    answer.assign(&output_at(call, "dicfo", 0), &output_at(call, "dicfo", 0) + 84);
  };
  EXPECT_EQ(judge(other, cell_case(1)).status, Status::kPassed);
  ScriptedImplementation scripted;
  scripted.after_run = [&](const backgauge_call& call) {
    std::copy(answer.begin(), answer.end(), &output_at(call, "dicfo", 0));
  };
  expect_failed(judge(scripted, cell_case(2)), "dicfo[");
}

TEST(Judge, FailsWhatIsNeverWritten) {
  ScriptedImplementation scripted;
  scripted.before = [](const backgauge_call&, backgauge_message&) { return BACKGAUGE_OK; };
  scripted.table.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
  const Verdict verdict = judge(scripted, cell_case());
  expect_failed(verdict, "cs_prev_grad[0,0]: never written");
  for (const TensorReport& tensor : verdict.tensors) EXPECT_EQ(tensor.unwritten, tensor.elements);
}

TEST(Judge, FailsATailThatIsNotZero) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) { output_at(call, "x_grad", 5 * 3 * 5 - 1) = 1e-40f; };
  expect_failed(judge(scripted, block_case()), "x_grad[4,2,4]");
}

TEST(Judge, FailsViolationsEvenWhereValuesAreRight) {
  ScriptedImplementation overrun;
  overrun.after_run = [](const backgauge_call& call) { output_at(call, "dicfo", 84) = 1; };
  expect_failed(judge(overrun, cell_case()), "wrote past the end of dicfo (element 84 of 84)");
  ScriptedImplementation mutation;
  mutation.after_run = [](const backgauge_call& call) { input_at(call, "cs_grad", 2) = 1; };
  expect_failed(judge(mutation, cell_case()), "changed the input cs_grad (element 2 of 21)");
}

TEST(Judge, SkipsWhatIsNotClaimed) {
  const auto skipped = [](const std::function<void(ScriptedImplementation&)>& change, Case c,
                          const std::string& reason) {
    ScriptedImplementation scripted;
    change(scripted);
    const Verdict verdict = judge(scripted, c);
    EXPECT_EQ(verdict.status, Status::kSkipped);
    EXPECT_EQ(verdict.reason, reason);
    EXPECT_EQ(scripted.runs, 0);
  };
  skipped([](ScriptedImplementation& p) { p.claim(&Claims::dtypes, BACKGAUGE_BIT(BACKGAUGE_HALF)); }, cell_case(),
          "dtype f32 is not claimed");
  skipped([](ScriptedImplementation& p) { p.claim(&Claims::use_peephole, BACKGAUGE_BIT(0)); }, cell_case(),
          "use_peephole 1 is not claimed");
  skipped([](ScriptedImplementation& p) { p.claim(&Claims::multiple_of_H, 8); }, cell_case(),
          "H = 7 is not claimed: multiples of 8");
  skipped([](ScriptedImplementation& p) { p.table.num_claims = 0; }, cell_case(), "LSTMBlockCellGrad is not claimed");
}

TEST(Judge, SkipsDeviceMemoryWhereThereIsNone) {
  if (device::absence().empty()) GTEST_SKIP() << "this machine has a device";
  ScriptedImplementation scripted;
  scripted.table.memory_space = BACKGAUGE_CUDA;
  const Verdict verdict = judge(scripted, cell_case());
  EXPECT_EQ(verdict.status, Status::kSkipped);
  EXPECT_EQ(verdict.reason, device::absence());
  EXPECT_EQ(scripted.runs, 0);
}

TEST(Judge, SkipsRecomputedCoOnInconsistentStatesOnly) {
  Filled filled = fill(cell_case());
  ScriptedImplementation scripted;
  scripted.claim(filled.problem.op);
  scripted.claim(&Claims::recomputes_co, true);
  filled.facts.consistent_saved = false;
  EXPECT_EQ(judge_case(scripted.table, filled.problem, filled.facts, {}).status, Status::kSkipped);
  filled.facts.consistent_saved = true;
  EXPECT_NE(judge_case(scripted.table, filled.problem, filled.facts, {}).status, Status::kSkipped);
}

TEST(Judge, SkipsAllButTrainingIfSavedTensorsAreRecomputed) {
  std::string error;
  ScriptedImplementation scripted;
  scripted.claim(&Claims::recomputes_forward, true);
  for (const auto& [words, judged] : {std::pair("data=training:0x1", true), std::pair("data=strat:0x1", false),
                                      std::pair("clip=0.5 data=training:0x1", false)}) {
    const Filled filled = fill(*parse_case(std::string("block_lstm_grad_v2 t2b1i2h3 peep=0 dt=f32 ") + words, error));
    scripted.claim(filled.problem.op);
    EXPECT_EQ(judge_case(scripted.table, filled.problem, filled.facts, {}).status != Status::kSkipped, judged) << words;
  }
}

TEST(Judge, StatusesOtherThanOkAreFailedOrBroken) {
  const std::pair<backgauge_status, Status> wanted[] = {{BACKGAUGE_UNSUPPORTED, Status::kFailed},
                                                        {BACKGAUGE_INVALID_ARGUMENT, Status::kFailed},
                                                        {BACKGAUGE_INTERNAL, Status::kFailed},
                                                        {BACKGAUGE_OUT_OF_MEMORY, Status::kBroken},
                                                        {BACKGAUGE_DEVICE_ERROR, Status::kBroken}};
  for (const auto& [status, verdict_status] : wanted) {
    ScriptedImplementation scripted;
    scripted.before = [status = status](const backgauge_call&, backgauge_message& message) {
      std::strcpy(message.text, "because");
      return status;
    };
    const Verdict verdict = judge(scripted, cell_case());
    EXPECT_EQ(verdict.status, verdict_status);
    EXPECT_NE(verdict.reason.find(": because"), std::string::npos);
  }
}

TEST(Judge, AnIllegalProblemIsNotTheImplementationsFault) {
  Filled filled = fill(cell_case());
  filled.problem.inputs[5].shape = {8};
  ScriptedImplementation scripted;
  scripted.claim(filled.problem.op);
  const Verdict verdict = judge_case(scripted.table, filled.problem, filled.facts, {});
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_TRUE(verdict.reason.starts_with("harness: not a legal call: wcf")) << verdict.reason;
  EXPECT_EQ(scripted.runs, 0);
}

TEST(Judge, ALegalProblemMustNotBeRefused) {
  ScriptedImplementation scripted;
  scripted.table.prepare = [](const backgauge_call*, backgauge_plan*, backgauge_message*) {
    return BACKGAUGE_INVALID_ARGUMENT;
  };
  expect_failed(judge(scripted, cell_case()), "prepare returned invalid_argument");
}

TEST(Judge, OutputsWithoutResolutionAreMistrusted) {
  Filled filled = fill(cell_case());
  for (Tensor& tensor : filled.problem.inputs) {
    if (tensor.name == "cs_grad" || tensor.name == "h_grad") {
      for (double& value : tensor.values) value = round_to(BACKGAUGE_FLOAT32, value * 1e-38);
    }
  }
  ScriptedImplementation scripted;
  scripted.claim(filled.problem.op);
  const Verdict verdict = judge_case(scripted.table, filled.problem, filled.facts, {});
  EXPECT_EQ(verdict.status, Status::kMistrusted) << verdict.reason;
  EXPECT_NE(verdict.reason.find("its bounds prove nothing"), std::string::npos);
  EXPECT_EQ(conclude({}).status, Status::kMistrusted);
}

TEST(Judge, EmptyBatchesPass) {
  Case c = cell_case();
  c.B = 0;
  ScriptedImplementation scripted;
  EXPECT_EQ(judge(scripted, c).status, Status::kPassed);
}

TEST(JudgeOutputs, JudgesFilesAndSaysWhatIsWrongWithThem) {
  const Problem problem = shaped_problem(cell_case());
  const auto judged = [&](const std::vector<GivenTensor>& given, double allowed = 1e-6) {
    ExpectedOutputs expected({}, [&](const auto&...) {
      return std::vector<Wanted>{{"x_grad", {2}, {1, 2}, {1e-6, allowed}}};
    });
    return judge_outputs(expected, problem, given, {});
  };
  const std::vector<GivenTensor> right{{"x_grad", {2}, BACKGAUGE_FLOAT32, {1, 2}}};
  EXPECT_EQ(judged(right).status, Status::kPassed);
  expect_failed(judged({}), "x_grad is missing");
  expect_failed(judged({{"x_grad", {2}, BACKGAUGE_FLOAT64, {1, 2}}}), "x_grad: expected dtype f32, got f64");
  expect_failed(judged({{"x_grad", {2, 1}, BACKGAUGE_FLOAT32, {1, 2}}}), "x_grad: expected shape [2], got [2, 1]");
  expect_failed(judged({{"x_grad", {2}, BACKGAUGE_FLOAT32, {1, 3}}}), "x_grad[1]");
  EXPECT_EQ(judged(right, std::nan("")).status, Status::kBroken);
}

TEST(JudgeOutputs, SkipsWhatTheDeclarationsMakeUndecidable) {
  const Problem problem = shaped_problem(cell_case());
  for (const bool co : {false, true}) {
    for (const bool forward : {false, true}) {
      for (const bool consistent : {false, true}) {
        for (const bool training : {false, true}) {
          const DataFacts facts{.consistent_saved = consistent, .training = training};
          ExpectedOutputs expected(facts, [](const auto&...) { return std::vector<Wanted>{}; });
          const bool skipped = ((co || forward) && !consistent) || (forward && !training);
          const Verdict verdict =
              judge_outputs(expected, problem, {}, {.recomputes_co = co, .recomputes_forward = forward});
          EXPECT_EQ(verdict.status == Status::kSkipped, skipped) << co << forward << consistent << training;
        }
      }
    }
  }
}

TEST(RunVerdicts, AnOutputWithoutWantedValuesIsNotPassed) {
  const Problem problem = fill(cell_case()).problem;
  const std::vector<Output> outputs{{{"dicfo", {1}, {}}, {1}, {0}}};
  EXPECT_THROW(compare_outputs(outputs, {}, problem, {}), std::logic_error);
  EXPECT_THROW(compare_outputs(outputs, {{"dicfo", {2}, {1, 1}, {0, 0}}}, problem, {}), std::logic_error);
}

TEST(RunVerdicts, ImplausibleMasksAreNamed) {
  std::vector<std::uint8_t> keep(1000, 1);
  EXPECT_EQ(implausible_mask(keep, 0.5), "keeps 1000 of 1000 elements with dropout 0.5");
  for (std::size_t k = 0; k < 1000; k += 2) keep[k] = 0;
  EXPECT_EQ(implausible_mask(keep, 0.5), "");
  EXPECT_EQ(implausible_mask(keep, 0.25), "keeps 500 of 1000 elements with dropout 0.25");
  keep[3] = 255;
  EXPECT_EQ(implausible_mask(keep, 0.5), "element 3 is 255");
  EXPECT_EQ(implausible_mask(std::vector<std::uint8_t>(20, 1), 0.5), "");  // once in a million
  EXPECT_EQ(implausible_mask({}, 0.5), "");
}

}  // namespace
}  // namespace backgauge
