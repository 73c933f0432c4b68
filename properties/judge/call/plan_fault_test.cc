// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/plan_fault.h"

#include <gtest/gtest.h>

#include "properties/case/draw/inputs.h"
#include "properties/case/files/memory_budget.h"
#include "properties/judge/judge.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge {
namespace {

using testing::ScriptedImplementation;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

struct Asked {
  std::uint64_t workspace = 0;
  std::uint32_t alignment = 0;
  std::int64_t reserve = 0;
};

RunResult fault_of(const Asked& asked, std::uint64_t limit) {
  const backgauge_plan plan{sizeof plan, asked.alignment, asked.workspace, asked.reserve};
  RunResult result;
  add_plan_fault(plan, spec_of(BACKGAUGE_CUDNN_RNN_BACKPROP), BACKGAUGE_FLOAT32, limit, result);
  return result;
}

TEST(PlanFault, WhatCanBeHadIsNone) {
  for (const Asked& asked : {Asked{}, Asked{1, 1, 1}, Asked{1 << 20, 4096, 77}, Asked{kGiB / 2, 1u << 21, 1 << 20}}) {
    const RunResult fault = fault_of(asked, kGiB);
    EXPECT_TRUE(fault.violations.empty());
    EXPECT_EQ(fault.broken, "");
  }
}

TEST(PlanFault, WhatNoMachineHasIsAViolation) {
  for (const std::uint64_t bytes :
       {std::uint64_t{1} << 47, std::uint64_t{1} << 63, ~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
    EXPECT_EQ(fault_of({.workspace = bytes}, 0).violations.size(), 1u) << bytes;
  }
  for (const std::uint32_t alignment : {3u, 1u << 22, 1u << 31, 0xffffffffu}) {
    EXPECT_EQ(fault_of({.alignment = alignment}, 0).violations.size(), 1u) << alignment;
  }
  for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{1} << 45, std::int64_t{1} << 62}) {
    EXPECT_EQ(fault_of({.reserve = length}, 0).violations.size(), 1u) << length;
  }
}

TEST(PlanFault, RequestsBeyondThisMachineAreReportedInBytes) {
  EXPECT_EQ(
      fault_of({.workspace = std::uint64_t{1} << 45}, 2 * kGiB).broken,
      "memory: prepare asked for 2^45 bytes of workspace and 0 bytes of reserve_space, more than the limit of 2 GiB");
  EXPECT_EQ(fault_of({.workspace = kGiB, .reserve = std::int64_t{1} << 29}, 2 * kGiB).broken,
            "memory: prepare asked for 1 GiB of workspace and 2 GiB of reserve_space, more than the limit of 2 GiB");
}

TEST(PlanFault, MemoryIsAskedFor) {
  EXPECT_GT(machine_memory(), std::uint64_t{1} << 26);
  EXPECT_GT(available_memory(), std::uint64_t{0});
  EXPECT_LE(available_memory(), machine_memory());
  EXPECT_EQ(bytes_text(64), "64 bytes");
  EXPECT_EQ(bytes_text(3 * kGiB / 2), "1.5 GiB");
  EXPECT_EQ(bytes_text(std::uint64_t{1} << 63), "2^63 bytes");
}

// In legal and malformed calls, of all functions: the implementation is at fault, never the harness.
TEST(PlanFault, IsTheImplementationsInEveryCall) {
  const Asked asked[] = {{.workspace = std::uint64_t{1} << 45},
                         {.workspace = ~std::uint64_t{0} - 63},
                         {.workspace = 1, .alignment = 0xdeadbeef},
                         {.reserve = -1},
                         {.reserve = std::int64_t{1} << 60}};
  for (const Asked& each : asked) {
    ScriptedImplementation scripted;
    scripted.claim(BACKGAUGE_CUDNN_RNN_BACKPROP);
    scripted.after_prepare = [&](backgauge_plan& plan) {
      plan.workspace_bytes = each.workspace;
      plan.workspace_alignment = each.alignment;
      if (each.reserve != 0) plan.reserve_space_length = each.reserve;
    };
    Case c;
    c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
    const Filled filled = fill(c);
    const Verdict verdict = judge_case(scripted.table, filled.problem, filled.facts, {});
    EXPECT_TRUE(verdict.status == Status::kFailed || verdict.status == Status::kBroken);
    EXPECT_NE(verdict.reason.find("prepare asked for"), std::string::npos) << verdict.reason;
    EXPECT_NE(verdict.reason.find("harness"), 0u) << verdict.reason;
    for (const backgauge_op op : {BACKGAUGE_CUDNN_RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
      const Refusals answers = refusals(scripted.table, op, BACKGAUGE_FLOAT32, 100);
      ASSERT_EQ(answers.wrong.size(), answers.calls);
      EXPECT_NE(answers.wrong[0].fault.find("prepare asked for"), std::string::npos) << answers.wrong[0].fault;
      EXPECT_NE(answers.wrong[0].fault.find("harness"), 0u) << answers.wrong[0].fault;
    }
  }
}

}  // namespace
}  // namespace backgauge
