// SPDX-License-Identifier: Apache-2.0
// Small cases, and a scripted implementation judged on them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "properties/case/draw/inputs.h"
#include "properties/judge/judge.h"
#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge::testing {

inline Case cell_case(std::uint64_t seed = 7) {
  Case c;
  c.B = 3;
  c.I = 5;
  c.H = 7;
  c.use_peephole = true;
  c.seed = seed;
  return c;
}

inline Case block_case() {
  Case c = cell_case();
  c.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  c.T = 5;
  c.seq_len_max = 3;
  return c;
}

inline Case rnn_case() {
  Case c = cell_case();
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 2;
  c.layers = 2;
  c.use_peephole = false;
  return c;
}

// A net of two bidirectional layers.
inline Case net_case(backgauge_rnn_mode mode, double dropout, backgauge_dtype dtype = BACKGAUGE_FLOAT32) {
  Case c;
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 3;
  c.B = 2;
  c.I = 5;
  c.H = 3;
  c.layers = 2;
  c.direction = BACKGAUGE_BIDIRECTIONAL;
  c.rnn_mode = mode;
  c.dropout = dropout;
  c.dtype = dtype;
  c.seed = 3;
  return c;
}

// Each case runs twice, and once more if outputs may share the memory of inputs.
inline int runs_of(backgauge_op op) { return op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD ? 3 : 2; }

inline Verdict judge(ScriptedImplementation& scripted, const Case& c, const JudgeOptions& options) {
  const Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  scripted.claim(c.op);
  return judge_case(scripted.table, filled.problem, filled.facts, options);
}
inline Verdict judge(ScriptedImplementation& scripted, const Case& c) { return judge(scripted, c, {.seed = c.seed}); }

inline void expect_failed(const Verdict& verdict, const std::string& reason) {
  EXPECT_EQ(verdict.status, Status::kFailed) << verdict.reason;
  EXPECT_NE(verdict.reason.find(reason), std::string::npos) << verdict.reason;
}

}  // namespace backgauge::testing
