// SPDX-License-Identifier: Apache-2.0
// This program is its own worker: it opens puppets, by the name of what they do.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "properties/judge/judge.h"
#include "properties/judge/puppet.h"
#include "properties/judge/report.h"
#include "properties/judge/worker/worker_main.h"
#include "properties/judge/worker/worker_runner.h"

namespace backgauge {
namespace {

using testing::input_at;
using testing::output_at;
using testing::Puppet;
using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

volatile int turns = 0;
int* volatile nowhere = reinterpret_cast<int*>(16);

// Through a pointer that no compiler sees through.
int deeper(int depth);
int (*volatile next)(int) = deeper;
int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return next(depth + 1) + frame[0];
}

void take_all_memory() {
  while (std::malloc(std::size_t{1} << 26) != nullptr) {
  }
}

// Finds the memory that is shared with the judge, and fills it.
void scribble(unsigned char value) {
  for (int number = 3; number < 16; ++number) {
    const off_t size = lseek(number, 0, SEEK_END);
    if (size <= 0) continue;
    void* shared = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    if (shared != MAP_FAILED) std::memset(shared, value, static_cast<std::size_t>(size));
  }
}

// Once: what the worker flushes after the call takes this long.
void flush_slowly(std::chrono::milliseconds time) {
  static std::chrono::milliseconds patience;
  patience = time;
  const auto write = [](void*, const char*, std::size_t size) {
    std::this_thread::sleep_for(patience);
    return static_cast<ssize_t>(size);
  };
  static std::FILE* file = fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  std::fputc('x', file);
}

// A process of another session, whose parent is gone; its number in `path`.
void leave_a_daemon(const std::string& path) {
  if (fork() != 0) return;
  setsid();
  if (const pid_t daemon = fork(); daemon != 0) {
    std::ofstream(path) << daemon << std::endl;
    _exit(0);
  }
  for (;;) pause();
}

using Act = std::function<void(const backgauge_call&)>;

void later(const Act& act, const backgauge_call& call) {
  std::thread([act, call] {
    std::this_thread::sleep_for(2ms);
    act(call);
  }).detach();
}

const std::map<std::string, Act>& acts() {
  static const std::map<std::string, Act> all{
      {"right", [](const backgauge_call&) {}},
      {"crash", [](const backgauge_call&) { *nowhere = 1; }},
      {"abort",
       [](const backgauge_call&) {
         std::fputs("free(): invalid pointer\n", stderr);
         std::abort();
       }},
      {"overflow", [](const backgauge_call&) { deeper(0); }},
      {"exit", [](const backgauge_call&) { std::exit(0); }},
      {"loop",
       [](const backgauge_call&) {
         while (turns >= 0) {
         }
       }},
      {"print", [](const backgauge_call&) { std::printf("hello\n"); }},
      {"spam",
       [](const backgauge_call&) {
         const std::string line(1000, 'x');
         for (int k = 0; k < 1000; ++k) std::fputs(line.c_str(), stderr);
       }},
      {"threads", [](const backgauge_call&) { std::thread([] { pause(); }).detach(); }},
      {"close", [](const backgauge_call&) { close(WorkerProcess::kSocket); }},
      {"scribble", [](const backgauge_call&) { scribble(0xff); }},
      {"late write",
       [](const backgauge_call& call) {
         later([element = &output_at(call, "dicfo", 3)](const backgauge_call&) { *element = 1; }, call);
       }},
      {"late crash", [](const backgauge_call& call) { later([](const backgauge_call&) { std::abort(); }, call); }},
      {"leave",
       [](const backgauge_call&) {
         setpgid(0, getpgid(getppid()));
         while (turns >= 0) {
         }
       }},
      {"evil print", [](const backgauge_call&) { std::fputs("\x1b[31m\xff\n", stdout); }},
      {"slow flush", [](const backgauge_call&) { flush_slowly(500ms); }},
      {"fork",
       [](const backgauge_call&) {
         if (fork() == 0) {
           pause();
           _exit(0);
         }
         std::abort();
       }},
  };
  return all;
}

const backgauge_implementation* open_puppet(const std::string& name, std::string& error) {
  static Puppet puppet;
  puppet.claims.op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  static const auto tells = puppet.table.dropout_mask;
  puppet.table.dropout_mask = tells;
  if (name == "rnn" || name.ends_with(" masks")) puppet.claims.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  if (name == "no masks") puppet.table.dropout_mask = nullptr;
  if (name == "untold masks") {
    puppet.table.dropout_mask = [](const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
      return BACKGAUGE_UNSUPPORTED;
    };
  }
  if (name == "crash while loading") std::abort();
  if (name == "loop while loading") pause();
  if (name == "nobody") {
    error = "nobody: is not there";
    return nullptr;
  }
  if (name == "memory") {
    puppet.before = [](const backgauge_call&, backgauge_message& message) {
      take_all_memory();
      std::strcpy(message.text, "no more");
      return BACKGAUGE_OUT_OF_MEMORY;
    };
  }
  if (name == "leak") {
    puppet.before = [](const backgauge_call&, backgauge_message& message) {
      constexpr std::size_t kSome = std::size_t{1} << 26;
      if (std::malloc(kSome) != nullptr) return BACKGAUGE_OK;
      std::strcpy(message.text, "no more");
      return BACKGAUGE_OUT_OF_MEMORY;
    };
  }
  if (name == "one in ten") {
    puppet.after_run = [](const backgauge_call& call) {
      if (call.inputs[0].shape[0] % 10 == 7) std::abort();
    };
  }
  if (name.starts_with("daemon ")) {
    puppet.after_run = [path = name.substr(7)](const backgauge_call&) {
      if (access(path.c_str(), F_OK) != 0) leave_a_daemon(path);
    };
  }
  if (const auto act = acts().find(name); act != acts().end()) puppet.after_run = act->second;
  return &puppet.table;
}

Case cell_case(std::int64_t batch = 3) {
  Case c;
  c.B = batch;
  c.I = 5;
  c.H = 7;
  c.use_peephole = true;
  c.seed = 7;
  return c;
}

Verdict judge(Runner& runner, const Case& c) {
  const Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  return judge_case(runner, filled.problem, filled.facts, {.seed = c.seed});
}

Verdict judge(const std::string& name, std::chrono::milliseconds timeout = 60s) {
  WorkerRunner runner({.implementation = name, .timeout = timeout});
  return judge(runner, cell_case());
}

void expect_broken(const std::string& name, const std::string& reason, std::chrono::milliseconds timeout = 60s) {
  const Verdict verdict = judge(name, timeout);
  EXPECT_EQ(verdict.status, Status::kBroken) << name;
  EXPECT_NE(verdict.reason.find(reason), std::string::npos) << name << ": " << verdict.reason;
}

TEST(Worker, SaysWhatTheImplementationSaysOfItself) {
  const WorkerRunner runner({.implementation = "right"});
  EXPECT_STREQ(runner.table().name, "puppet");
  EXPECT_STREQ(runner.table().version, "1");
  EXPECT_EQ(runner.table().num_claims, 1);
  EXPECT_EQ(runner.table().claims[0].op, BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  EXPECT_NE(runner.table().dropout_mask, nullptr);
  EXPECT_EQ(runner.table().run(nullptr, nullptr), BACKGAUGE_INTERNAL);
}

TEST(Worker, GivesTheVerdictsOfThisProcess) {
  Puppet puppet;
  std::string error;
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
    for (const std::int64_t batch : {0, 1, 3, 200}) {
      Case c = cell_case(batch);
      c.dtype = dtype;
      InProcessRunner here(*open_puppet("right", error));
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

TEST(Worker, JudgesWhereMasksAreNotTold) {
  Case c = cell_case();
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 3;
  c.layers = 2;
  c.use_peephole = false;
  c.dropout = 0.5;
  std::string error;
  for (const char* name : {"no masks", "untold masks"}) {
    InProcessRunner here(*open_puppet(name, error));
    WorkerRunner there({.implementation = name});
    const Verdict wanted = judge(here, c), got = judge(there, c);
    EXPECT_EQ(got.status, Status::kPassed) << verdict_text(got);
    EXPECT_TRUE(got.note.starts_with("masks not told")) << got.note;
    EXPECT_EQ(verdict_text(got), verdict_text(wanted));
  }
}

TEST(Worker, RefusedProblemsMustBeRefused) {
  Filled filled = fill(cell_case());
  filled.problem.inputs[5].shape = {8};
  WorkerRunner runner({.implementation = "right"});
  EXPECT_EQ(judge_case(runner, filled.problem, filled.facts, {}).status, Status::kPassed);
}

TEST(Worker, ADeathIsToldWithItsCause) {
  expect_broken("crash", "crash: SIGSEGV in run at address 0x10");
  expect_broken("abort", "crash: SIGABRT in run; it printed \"free(): invalid pointer\\n\"");
  expect_broken("exit", "exit: status 0 in run");
  expect_broken("overflow", kSanitized ? "crash: SIGSEGV in run" : "crash: SIGSEGV in run (stack overflow)");
  expect_broken("loop", "timeout: run has not returned within 0.3 s", 300ms);
  expect_broken("close", "exit: status 0 after run");  // it cannot know that the judge is still there
  expect_broken("fork", "crash: SIGABRT in run");
}

TEST(Worker, MisbehaviourIsToldWithItsExtent) {
  expect_broken("print", "output: 6 bytes on stdout or stderr, \"hello\\n\"");
  expect_broken("spam", "output: 1000000 bytes on stdout or stderr, \"xxx");
}

TEST(Worker, OneThatLeavesItsGroupEndsAsWell) {
  expect_broken("leave", "timeout: run has not returned within 0.3 s", 300ms);
}

TEST(Worker, WhatItPrintsIsMadePrintable) { expect_broken("evil print", "\"\\x1b[31m\\xff\\n\""); }

TEST(Worker, OnlyItsOwnCallsCountAgainstATimeout) {
  const Verdict verdict = judge("slow flush", 300ms);
  EXPECT_EQ(verdict.status, Status::kPassed) << verdict.reason;
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
  EXPECT_EQ(reason, "not run: 10 calls of lstm_block_cell_grad have not returned within 0.02 s each");
  runner.forget_timeouts();
  EXPECT_EQ(judge(runner, cell_case()).reason.find("timeout: "), 0u);
}

TEST(Worker, WhatItKeepsCountsAgainstItsMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes of addresses";
  WorkerRunner leaks({.implementation = "leak", .memory_limit = std::uint64_t{1} << 28});
  Verdict verdict;
  for (int turn = 0; turn < 8 && verdict.reason.find("memory: ") != 0; ++turn) verdict = judge(leaks, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_EQ(verdict.reason, "memory: run answered out_of_memory under a limit of 256 MiB: no more");
}

TEST(Worker, MemoryIsLimited) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes of addresses";
  WorkerRunner runner({.implementation = "memory", .memory_limit = std::uint64_t{1} << 30});
  for (int turn = 0; turn < 2; ++turn) {
    const Verdict verdict = judge(runner, cell_case());
    EXPECT_EQ(verdict.status, Status::kBroken);
    EXPECT_EQ(verdict.reason, "memory: run answered out_of_memory under a limit of 1 GiB: no more");
  }
}

TEST(Worker, ThreadsThatAreLeftAreCounted) {
  WorkerRunner runner({.implementation = "threads"});
  Verdict verdict;
  constexpr long kMostThreads = 16;                                                 // that a case asks for
  const long most = 2 * std::max(sysconf(_SC_NPROCESSORS_CONF), kMostThreads) + 6;  // two a case
  int cases = 0;
  for (; cases <= most && verdict.reason.find("threads: ") != 0; ++cases) verdict = judge(runner, cell_case());
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_NE(verdict.reason.find(" are left after run, at most "), std::string::npos) << verdict.reason;
  EXPECT_GT(cases, 1);  // a pool is not a leak
}

TEST(Worker, WhatIsWrittenLateIsSeen) {
  const Verdict verdict = judge("late write");
  EXPECT_EQ(verdict.status, Status::kFailed);
  EXPECT_EQ(verdict.reason.find("changed the output dicfo (element 3 of 84) after the call had returned"), 0u)
      << verdict.reason;
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
  EXPECT_EQ(error("crash while loading"), "crash while loading: crash: SIGABRT in backgauge_entry");
  EXPECT_EQ(error("loop while loading"), "loop while loading: timeout: backgauge_entry has not returned within 0.3 s");
}

TEST(Worker, GoesWithTheJudge) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // open for writing as long as the worker lives
  const pid_t judge_process = fork();
  if (judge_process == 0) {
    close(ends[0]);
    WorkerProcess worker({"loop while loading", "0"});
    worker.wait(std::chrono::steady_clock::now() + 200ms);
    raise(SIGKILL);
  }
  close(ends[1]);
  char nothing;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);
}

}  // namespace
}  // namespace backgauge

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) {
    backgauge::worker_main({argv + 2, argv + argc}, backgauge::open_puppet);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
