// SPDX-License-Identifier: Apache-2.0
// Tests what a confined worker cannot do, and that it works nevertheless.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/sandbox/variables.h"
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

// What the judge's caller has: a variable that is a secret, and a descriptor that programs inherit.
class Secrets {
 public:
  Secrets() {
    setenv(kSecretVariable, "secret", 1);
    dup2(Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)).get(), kOpenDescriptor);
  }
  ~Secrets() {
    unsetenv(kSecretVariable);
    close(kOpenDescriptor);
  }
  Secrets(const Secrets&) = delete;
};

TEST(Confined, CannotDoAnythingButCompute) {
  NEEDS_PROTECTIONS();
  const Secrets secrets;
  for (const auto& [name, escape] : escapes()) {
    WorkerRunner runner(confined("escape " + name));
    const Verdict verdict = judge(runner, cell_case());
    EXPECT_EQ(verdict.status, Status::kPassed) << name << ": " << verdict_text(verdict);
  }
}

TEST(Confined, TheAttemptsWouldSucceedWithoutIt) {
  const Secrets secrets;
  // Those that need no privilege and do no harm.
  for (const char* name : {"socket", "local socket", "fork", "spawn", "kill", "kill group", "judge's command line",
                           "read a file", "read a folder", "write a file", "unlink", "read a variable", "empty a file",
                           "open without reading", "signals of a descriptor", "which signal"}) {
    WorkerRunner runner({.implementation = std::string("escape ") + name});
    EXPECT_EQ(judge(runner, cell_case()).status, Status::kBroken) << name;
  }
}

TEST(Confined, AVariableThatIsNamedReachesIt) {
  NEEDS_PROTECTIONS();
  const Secrets secrets;
  WorkerOptions options = confined("escape read a variable");
  options.program.confinement->variables = {kSecretVariable};
  WorkerRunner runner(options);
  EXPECT_EQ(judge(runner, cell_case()).status, Status::kBroken);
}

TEST(Confined, VariablesOfLibrariesAreNoSecrets) {
  for (const char* name : {"LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "LC_ALL", "BACKGAUGE_CPU"}) {
    EXPECT_TRUE(concerns_libraries(name)) << name;
  }
  for (const char* name :
       {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "BACKGAUGE_DATABASE", "JAX_TOKEN", "SSH_AUTH_SOCK"}) {
    EXPECT_FALSE(concerns_libraries(name)) << name;
  }
}

TEST(Confined, WhatWasRefusedIsReported) {
  NEEDS_PROTECTIONS();
  for (const auto& [name, call] : {std::pair("socket", "socket"),
                                   {"spawn", "clone"},
                                   {"fork", "clone"},
                                   {"kill", "kill"},
                                   {"ptrace", "ptrace"},
                                   {"empty a file", "openat"},
                                   {"open without reading", "openat"},
                                   {"signals of a descriptor", "fcntl"},
                                   {"which signal", "fcntl"},
                                   {"signals begin", "fcntl"},
                                   {"seal the memory", "fcntl"},
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
  for (const char* name : {"hoard", "hoard in a file"}) {
    WorkerOptions options = confined(name);
    options.memory_limit = std::uint64_t{64} << 20;
    WorkerRunner runner(options);
    const Verdict verdict = judge(runner, cell_case());
    EXPECT_EQ(verdict.status, Status::kBroken) << name;
    EXPECT_NE(verdict.reason.find("memory: the process holds "), std::string::npos) << verdict.reason;
  }
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
