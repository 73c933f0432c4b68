// SPDX-License-Identifier: Apache-2.0
// Traces that calls leave behind: output, memory, threads, writes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "properties/judge/worker/testing/worker_testing.h"

namespace backgauge::testing {
namespace {

using namespace std::chrono_literals;

TEST(Worker, MisbehaviourIsReportedWithItsExtent) {
  expect_broken("print", "output: printed 6 bytes to stdout or stderr, \"hello\\n\"");
  expect_broken("spam", "output: printed 1000000 bytes to stdout or stderr, \"xxx");
}

TEST(Worker, WhatItPrintsIsMadePrintable) { expect_broken("evil print", "\"\\x1b[31m\\xff\\n\""); }

TEST(Worker, WhatItKeepsCountsAgainstItsMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes of addresses";
  WorkerRunner leaks({.implementation = "leak", .memory_limit = std::uint64_t{1} << 28});
  Verdict verdict;
  for (int turn = 0; turn < 8 && verdict.reason.find("memory: ") != 0; ++turn) verdict = judge(leaks, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_EQ(verdict.reason, "memory: run returned out_of_memory under a limit of 256 MiB: no more");
}

TEST(Worker, MemoryIsLimited) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes of addresses";
  WorkerRunner runner({.implementation = "memory", .memory_limit = std::uint64_t{1} << 30});
  for (int turn = 0; turn < 2; ++turn) {
    const Verdict verdict = judge(runner, cell_case());
    EXPECT_EQ(verdict.status, Status::kBroken);
    EXPECT_EQ(verdict.reason, "memory: run returned out_of_memory under a limit of 1 GiB: no more");
  }
}

TEST(Worker, ThreadsThatAreLeftAreCounted) {
  WorkerRunner runner({.implementation = "threads"});
  Verdict verdict;
  constexpr long kMostThreads = 16;                                                 // that a case asks for
  const long most = 4 * std::max(sysconf(_SC_NPROCESSORS_CONF), kMostThreads) + 6;  // two a case
  int cases = 0;
  for (; cases <= most && verdict.reason.find("threads: ") != 0; ++cases) verdict = judge(runner, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_NE(verdict.reason.find(" are left after run, more than the "), std::string::npos) << verdict.reason;
  EXPECT_GT(cases, 1);  // a pool is not a leak
}

TEST(Worker, ThreadsThatAreStartedWhileLoadingAreNotLeftByACall) {
  const Verdict verdict = judge("pool");
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
}

TEST(Worker, WhatIsWrittenLateIsSeen) {
  const Verdict verdict = judge("late write");
  EXPECT_EQ(verdict.status, Status::kFailed);
  EXPECT_EQ(verdict.reason.find("changed the output dicfo (element 3 of 84) after the call had returned"), 0u)
      << verdict.reason;
}

}  // namespace
}  // namespace backgauge::testing
