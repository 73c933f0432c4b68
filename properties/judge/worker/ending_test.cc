// SPDX-License-Identifier: Apache-2.0
// Tests the ways in which a worker ends, and the report of each.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stop_token>
#include <thread>
#include <vector>

#include "properties/judge/worker/testing/worker_testing.h"

namespace backgauge::testing {
namespace {

using namespace std::chrono_literals;

TEST(Worker, AnEndIsReportedWithItsCause) {
  expect_broken("crash", "crash: SIGSEGV in run at address 0x10");
  expect_broken("abort", "crash: SIGABRT in run; it printed \"free(): invalid pointer\\n\"");
  expect_broken("exit", "exit: status 0 in run");
  expect_broken("overflow", kSanitized ? "crash: SIGSEGV in run" : "crash: SIGSEGV in run (stack overflow)");
  expect_broken("loop", "timeout: run has not returned within 0.3 s, the limit of --timeout", 300ms);
  expect_broken("close", "exit: status 0 after run");  // it cannot know that the judge is still there
  expect_broken("fork", "crash: SIGABRT in run");
}

TEST(Worker, OneThatLeavesItsGroupEndsAsWell) {
  expect_broken("leave", "timeout: run has not returned within 0.3 s", 300ms);
}

// Whether another call has begun is told by memory that the implementation can write to.
TEST(Worker, OneThatSaysAgainAndAgainThatItBeginsTimesOut) {
  expect_broken("begin again", "timeout: the process has not answered within 2 s, 20 times --timeout", 100ms);
}

TEST(Worker, OnlyItsOwnCallsCountAgainstATimeout) {
  const Verdict verdict = judge("slow flush", 300ms);
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
}

// Keeps one processor busy, which this thread and its children then use as well.
class BusyProcessor {
 public:
  explicit BusyProcessor(int threads) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int k = 0; k < threads; ++k) {
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
    }
  }
  ~BusyProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  BusyProcessor(const BusyProcessor&) = delete;
  BusyProcessor& operator=(const BusyProcessor&) = delete;

 private:
  cpu_set_t before_;
  std::vector<std::jthread> threads_;
};

// With eight threads on a processor, 55 ms of computing take 0.44 s, and several times as long on a busy machine.
TEST(Worker, WaitingForAProcessorDoesNotCountAgainstATimeout) {
  const BusyProcessor busy(7);
  const Verdict verdict = judge("compute", 300ms);
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
}

TEST(Worker, WaitingForAProcessorDoesNotCountForever) {
  const BusyProcessor busy(31);
  expect_broken("loop", " s for a processor", 100ms);
}

bool is_alive(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state && state != "Z" && state != "X";
}

TEST(Worker, ADaemonEndsWithTheWorkerThatStartedIt) {
  const std::string path = ::testing::TempDir() + "backgauge_daemon_" + std::to_string(getpid());
  unlink(path.c_str());
  {
    WorkerRunner runner({.implementation = "daemon " + path});
    judge(runner, cell_case());
  }
  pid_t daemon = 0;
  ASSERT_TRUE(std::ifstream(path) >> daemon);
  EXPECT_FALSE(is_alive(daemon));
  unlink(path.c_str());
}

TEST(Worker, IsGivenUpOnWhereItHangsInEveryCall) {
  WorkerRunner runner({.implementation = "loop", .timeout = 20ms});
  for (int call = 0; call < Patience::kMostTimeouts; ++call) {
    EXPECT_EQ(judge(runner, cell_case()).reason.find("timeout: "), 0u);
  }
  const std::string reason = judge(runner, cell_case()).reason;
  EXPECT_EQ(reason,
            "not run: 10 calls of lstm_block_cell_grad have not returned within 0.02 s each, the limit of --timeout");
  runner.forget_timeouts();
  EXPECT_EQ(judge(runner, cell_case()).reason.find("timeout: "), 0u);
}

TEST(Worker, ADeathBetweenCallsIsNotLost) { expect_broken("late crash", "crash: SIGABRT"); }

TEST(Worker, NonsenseFromAWorkerDoesNoHarm) {
  WorkerRunner runner({.implementation = "scribble"});
  for (int turn = 0; turn < 3; ++turn) EXPECT_NE(judge(runner, cell_case()).reason.find("harness"), 0u);
}

TEST(Worker, TheRunGoesOn) {
  WorkerRunner runner({.implementation = "one in ten"});
  for (std::int64_t batch = 1; batch <= 40; ++batch) {
    const Verdict verdict = judge(runner, cell_case(batch));
    EXPECT_EQ(verdict.status, batch % 10 == 7 ? Status::kBroken : Status::kPassed) << verdict.reason;
  }
}

TEST(Worker, GoesWithTheJudge) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // open for writing as long as the worker exists
  const pid_t judge_process = fork();
  if (judge_process == 0) {
    close(ends[0]);
    WorkerProcess worker(WorkerProgram{}, {"loop while loading", "0"});
    worker.wait(std::chrono::steady_clock::now() + 200ms);
    raise(SIGKILL);
  }
  close(ends[1]);
  char nothing;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);
}

}  // namespace
}  // namespace backgauge::testing
