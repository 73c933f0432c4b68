// SPDX-License-Identifier: Apache-2.0
// This program is its own worker: it opens scripted implementations by the name of what they do.
#include <gtest/gtest.h>

#include <cstring>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/testing/scripted_implementation.h"
#include "properties/judge/worker/testing/misbehaving.h"
#include "properties/judge/worker/testing/worker_testing.h"
#include "properties/judge/worker/worker_main.h"

namespace backgauge::testing {
namespace {

using namespace std::chrono_literals;

TEST(Worker, SaysWhatTheImplementationSaysOfItself) {
  const WorkerRunner runner({.implementation = "right"});
  EXPECT_STREQ(runner.table().name, "scripted");
  EXPECT_STREQ(runner.table().version, "1");
  EXPECT_EQ(runner.table().num_claims, 1);
  EXPECT_EQ(runner.table().claims[0].op, BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  EXPECT_NE(runner.table().dropout_mask, nullptr);
  EXPECT_EQ(runner.table().run(nullptr, nullptr), BACKGAUGE_INTERNAL);
}

TEST(Worker, GivesTheVerdictsOfThisProcess) {
  ScriptedImplementation scripted;
  std::string error;
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
    for (const std::int64_t batch : {0, 1, 3, 200}) {
      Case c = cell_case(batch);
      c.dtype = dtype;
      InProcessRunner here(*open_scripted("right", error));
      WorkerRunner there({.implementation = "right"});
      const Verdict wanted = judge(here, c), got = judge(there, c);
      EXPECT_EQ(got.status, Status::kPassed) << verdict_text(got);
      EXPECT_EQ(verdict_text(got), verdict_text(wanted));
    }
  }
}

TEST(Worker, JudgesTheThirdOpWithItsForwardAndItsMasks) {
  Case c = cell_case();
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 3;
  c.layers = 3;
  c.use_peephole = false;
  for (const double dropout : {0.0, 0.5}) {
    c.dropout = dropout;
    WorkerRunner runner({.implementation = "rnn"});
    const Verdict verdict = judge(runner, c);
    EXPECT_EQ(verdict.status, Status::kPassed) << verdict_text(verdict);
    EXPECT_EQ(verdict.tensors.size(), 7u);
  }
}

TEST(Worker, JudgesWhereMasksAreNotAvailable) {
  Case c = cell_case();
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 3;
  c.layers = 2;
  c.use_peephole = false;
  c.dropout = 0.5;
  std::string error;
  for (const char* name : {"no masks", "unavailable masks"}) {
    InProcessRunner here(*open_scripted(name, error));
    WorkerRunner there({.implementation = name});
    const Verdict wanted = judge(here, c), got = judge(there, c);
    EXPECT_EQ(got.status, Status::kPassed) << verdict_text(got);
    EXPECT_TRUE(got.note.starts_with("masks not available")) << got.note;
    EXPECT_EQ(verdict_text(got), verdict_text(wanted));
  }
}

TEST(Worker, WhatCannotBeOpenedIsSaid) {
  const auto error = [](const std::string& name) -> std::string {
    try {
      WorkerRunner runner({.implementation = name, .timeout = 300ms});
      return "";
    } catch (const LoadError& load_error) {
      return load_error.what();
    }
  };
  EXPECT_EQ(error("nobody"), "nobody: is not there");
  EXPECT_EQ(error("crash while loading"), "crash while loading: crash: SIGABRT in loading");
  EXPECT_EQ(error("loop while loading"),
            "loop while loading: timeout: loading has not returned within 0.3 s, the limit of --timeout");
}

}  // namespace
}  // namespace backgauge::testing

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) {
    backgauge::worker_main({argv + 2, argv + argc}, backgauge::testing::open_scripted);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
