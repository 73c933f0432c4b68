// SPDX-License-Identifier: Apache-2.0
// Tests what a confined worker cannot do, and that it works nevertheless.
#include <gtest/gtest.h>
#include <unistd.h>

#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/worker/testing/escapes.h"
#include "properties/judge/worker/testing/worker_testing.h"

namespace backgauge::testing {
namespace {

using namespace std::chrono_literals;

// A machine without the protections is not a reason to pass.
#define NEEDS_PROTECTIONS()                                            \
  if (const auto lacking = lacking_protections(); !lacking.empty()) {  \
    GTEST_SKIP() << "SKIPPED: this machine lacks " << lacking.front(); \
  }

WorkerOptions confined(const std::string& name) {
  return {.implementation = name, .program = {.confinement = Confinement{}}, .timeout = 60s};
}

TEST(Confined, CannotDoAnythingButCompute) {
  NEEDS_PROTECTIONS();
  for (const auto& [name, escape] : escapes()) {
    WorkerRunner runner(confined("escape " + name));
    const Verdict verdict = judge(runner, cell_case());
    EXPECT_EQ(verdict.status, Status::kPassed) << name << ": " << verdict_text(verdict);
  }
}

TEST(Confined, TheAttemptsWouldSucceedWithoutIt) {
  // Those that need no privilege and do no harm.
  for (const char* name : {"socket", "local socket", "fork", "spawn", "kill", "kill group", "judge's command line",
                           "read a file", "read a folder", "write a file", "unlink"}) {
    WorkerRunner runner({.implementation = std::string("escape ") + name});
    EXPECT_EQ(judge(runner, cell_case()).status, Status::kBroken) << name;
  }
}

TEST(Confined, WhatWasRefusedIsReported) {
  NEEDS_PROTECTIONS();
  for (const auto& [name, call] : {std::pair("socket", "socket"),
                                   {"spawn", "clone"},
                                   {"fork", "clone"},
                                   {"kill", "kill"},
                                   {"ptrace", "ptrace"},
                                   {"judge's memory", "process_vm_readv"}}) {
    WorkerOptions options = confined(std::string("escape ") + name);
    {
      WorkerRunner runner(options);
      judge(runner, cell_case());
    }
    EXPECT_EQ(options.conduct->refused(), std::set<std::string>{call}) << name;
  }
}

TEST(Confined, AProcessThatSetsItsOwnLimitOfMemoryIsEnded) {
  NEEDS_PROTECTIONS();
  WorkerOptions options = confined("hoard");
  options.memory_limit = std::uint64_t{64} << 20;
  WorkerRunner runner(options);
  const Verdict verdict = judge(runner, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_NE(verdict.reason.find("memory: the process holds "), std::string::npos) << verdict.reason;
}

TEST(Confined, AProcessThatComputesOnTheSideIsEnded) {
  NEEDS_PROTECTIONS();
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "SKIPPED: one processor";
  WorkerOptions options = confined("compute on the side");
  options.timeout = 50ms;  // the process itself has ten times as long, and twice as much processor time
  WorkerRunner runner(options);
  const Verdict verdict = judge(runner, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_NE(verdict.reason.find("cpu: "), std::string::npos) << verdict.reason;
}

TEST(Confined, AnEndIsReportedWithItsCause) {
  NEEDS_PROTECTIONS();
  for (const auto& [name, reason] : {std::pair("crash", "crash: SIGSEGV in run at address 0x10"),
                                     {"exit", "exit: status 0 in run"},
                                     {"abort", "crash: SIGABRT in run"}}) {
    WorkerRunner runner(confined(name));
    EXPECT_NE(judge(runner, cell_case()).reason.find(reason), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace backgauge::testing
