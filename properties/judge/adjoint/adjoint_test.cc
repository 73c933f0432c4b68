// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop whose dropout masks are not available: the adjoint identity, and the other checks.
#include "properties/judge/adjoint/adjoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using testing::expect_failed;
using testing::input_at;
using testing::judge;
using testing::net_case;
using testing::output_at;
using testing::ScriptedImplementation;

constexpr backgauge_rnn_mode kModes[] = {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU};

Case dropout_case(backgauge_rnn_mode mode = BACKGAUGE_LSTM, backgauge_dtype dtype = BACKGAUGE_FLOAT32) {
  return net_case(mode, 0.5, dtype);
}

struct Silent : ScriptedImplementation {
  Silent() { table.dropout_mask = nullptr; }
};

void multiply(const backgauge_call& call, const char* name, float factor) {
  const backgauge_tensor* tensor = backgauge_find(call.outputs, call.num_outputs, name);
  for (std::int64_t k = 0; k < backgauge_elements(tensor); ++k) output_at(call, name, k) *= factor;
}

TEST(Adjoint, PassesWhatIsRightAndSaysHow) {
  for (const backgauge_rnn_mode mode : kModes) {
    for (const backgauge_dtype dtype : {BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
      Silent scripted;
      const Verdict verdict = judge(scripted, dropout_case(mode, dtype));
      EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
      EXPECT_EQ(verdict.reason, "");
      EXPECT_TRUE(verdict.note.starts_with("masks not available: adjoint identity along ")) << verdict.note;
      EXPECT_NE(verdict_text(verdict).find(verdict.note), std::string::npos);
      EXPECT_EQ(verdict.tensors.size(), mode == BACKGAUGE_LSTM ? 7u : 5u);
    }
  }
}

TEST(Adjoint, HalfNeverFailsWhatIsRight) {
  for (const backgauge_rnn_mode mode : kModes) {
    Silent scripted;
    const Verdict verdict = judge(scripted, dropout_case(mode, BACKGAUGE_HALF));
    EXPECT_TRUE(verdict.status == Status::kPassed || verdict.status == Status::kMistrusted) << verdict_text(verdict);
  }
}

TEST(Adjoint, OnlyWhereMasksDecide) {
  Silent scripted;
  Case c = dropout_case();
  c.dropout = 1;
  EXPECT_EQ(judge(scripted, c).note, "");
  c = dropout_case();
  c.layers = 1;
  const Verdict verdict = judge(scripted, c);
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
  EXPECT_EQ(verdict.note, "");
}

TEST(Adjoint, WhereAnImplementationSaysThatItCannotTell) {
  ScriptedImplementation scripted;
  scripted.table.dropout_mask = [](const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
    return BACKGAUGE_UNSUPPORTED;
  };
  const Verdict verdict = judge(scripted, dropout_case());
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
  EXPECT_TRUE(verdict.note.starts_with("masks not available")) << verdict.note;
  scripted.table.dropout_mask = [](const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
    return BACKGAUGE_INTERNAL;
  };
  expect_failed(judge(scripted, dropout_case()), "dropout_mask returned internal");
}

TEST(Adjoint, FailsAWrongGradientOfEveryInput) {
  for (const backgauge_rnn_mode mode : kModes) {
    for (const char* name : {"input_backprop", "input_h_backprop", "params_backprop"}) {
      Silent scripted;
      scripted.after_run = [&](const backgauge_call& call) { multiply(call, name, 2); };
      expect_failed(judge(scripted, dropout_case(mode)), name);
    }
  }
  Silent scripted;
  scripted.after_run = [](const backgauge_call& call) { multiply(call, "input_c_backprop", 0); };
  expect_failed(judge(scripted, dropout_case()), "input_c_backprop: got 0 want");
}

TEST(Adjoint, NamesThePartOfTheParams) {
  Silent scripted;
  scripted.after_run = [](const backgauge_call& call) {
    const backgauge_tensor* params = backgauge_find(call.outputs, call.num_outputs, "params_backprop");
    output_at(call, "params_backprop", backgauge_elements(params) - 1) += 1;
  };
  expect_failed(judge(scripted, dropout_case()), "along random signs of biases");
}

TEST(Adjoint, FailsMasksThatChange) {
  int forwards = 0;
  // Only the first forward has these values; two others check whether seeds decide the masks.
  constexpr int kSecond = 4;
  Silent scripted;
  scripted.after_forward = [&](const backgauge_call& call) {
    if (++forwards == kSecond) multiply(call, "output", 2);
  };
  expect_failed(judge(scripted, dropout_case()), "the same in every forward of the same call: output[0,0,0]");
  forwards = 0;
  scripted.claim(&Claims::determinism, BACKGAUGE_NOT_DETERMINISTIC);
  expect_failed(judge(scripted, dropout_case()), "the same in every forward of the same call: output[");
  // A difference of one rounding is allowed.
  forwards = 0;
  scripted.after_forward = [&](const backgauge_call& call) {
    if (++forwards == kSecond) multiply(call, "output", 1 + 0x1p-23F);
  };
  const Verdict verdict = judge(scripted, dropout_case());
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
}

TEST(Adjoint, WhatNoMaskTouchesIsJudgedElementByElement) {
  Silent states;
  states.after_forward = [](const backgauge_call& call) { output_at(call, "output_c", 3) += 1; };
  expect_failed(judge(states, dropout_case()), "output_c[0,1,0]");
  // The upstream gradients are 0, so all gradients are 0, whatever is dropped.
  Filled filled = fill(dropout_case());
  for (Tensor& tensor : filled.problem.inputs) {
    if (tensor.name.ends_with("_backprop")) std::ranges::fill(tensor.values, 0);
  }
  Silent zeros;
  zeros.claim(filled.problem.op);
  const Verdict verdict = judge_case(zeros.table, filled.problem, filled.facts, {});
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
  zeros.after_run = [](const backgauge_call& call) { output_at(call, "params_backprop", 2) = 1e-30F; };
  expect_failed(judge_case(zeros.table, filled.problem, filled.facts, {}), "params_backprop[2]: got 1e-30 want 0");
}

TEST(Adjoint, OtherRulesHoldAsEver) {
  Silent unrepeated;
  unrepeated.after_run = [&](const backgauge_call& call) {
    if (unrepeated.runs == 2) output_at(call, "input_backprop", 0) *= 1 + 0x1p-23F;
  };
  expect_failed(judge(unrepeated, dropout_case()), "not repeatable: input_backprop[0,0,0]");
  Silent nan;
  nan.after_run = [](const backgauge_call& call) { output_at(call, "params_backprop", 7) = std::nanf(""); };
  expect_failed(judge(nan, dropout_case()), "params_backprop[7]: got nan");
  Silent infinite;
  infinite.after_run = [](const backgauge_call& call) { output_at(call, "params_backprop", 7) = INFINITY; };
  expect_failed(judge(infinite, dropout_case()), "params_backprop");
  Silent writes;
  writes.after_run = [](const backgauge_call& call) { input_at(call, "reserve_space", 0) = 7; };
  expect_failed(judge(writes, dropout_case()), "changed the input reserve_space");
}

TEST(Adjoint, SaysNothingOfValuesThatAreNotFinite) {
  Case c = dropout_case();
  c.data = DataProfile::kNan;
  Silent scripted;
  const Verdict verdict = judge(scripted, c);
  EXPECT_EQ(verdict.status, Status::kSkipped) << verdict_text(verdict);
  scripted.after_run = [](const backgauge_call& call) { input_at(call, "reserve_space", 0) = 7; };
  expect_failed(judge(scripted, c), "changed the input reserve_space");
}

TEST(Adjoint, AGradientWithoutAConclusiveDirectionIsMistrusted) {
  Silent scripted;
  scripted.claim(&Claims::accuracy_class, BACKGAUGE_CLASS_B);
  const Verdict verdict = judge(scripted, dropout_case(BACKGAUGE_LSTM, BACKGAUGE_HALF));
  EXPECT_EQ(verdict.status, Status::kMistrusted) << verdict_text(verdict);
  EXPECT_EQ(verdict.reason, "masks not available, and no direction is conclusive");
}

}  // namespace
}  // namespace backgauge
