// SPDX-License-Identifier: Apache-2.0
// One small case, judged in a worker with an implementation of misbehaving.h.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "properties/case/draw/inputs.h"
#include "properties/judge/judge.h"
#include "properties/judge/worker/worker_runner.h"
#include "reference/contract/sanitized.h"

namespace backgauge::testing {

inline Case cell_case(std::int64_t batch = 3) {
  Case c;
  c.B = batch;
  c.I = 5;
  c.H = 7;
  c.use_peephole = true;
  c.seed = 7;
  return c;
}

inline Verdict judge(Runner& runner, const Case& c) {
  const Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  return judge_case(runner, filled.problem, filled.facts, {.seed = c.seed});
}

inline Verdict judge(const std::string& name, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  WorkerRunner runner({.implementation = name, .timeout = timeout});
  return judge(runner, cell_case());
}

inline void expect_broken(const std::string& name, const std::string& reason,
                          std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  const Verdict verdict = judge(name, timeout);
  EXPECT_EQ(verdict.status, Status::kBroken) << name;
  EXPECT_NE(verdict.reason.find(reason), std::string::npos) << name << ": " << verdict.reason;
}

}  // namespace backgauge::testing
