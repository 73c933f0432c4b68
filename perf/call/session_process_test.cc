// SPDX-License-Identifier: Apache-2.0
// This program is its own session process: it opens scripted implementations, named after what they do to the process.
#include "perf/call/session_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "impl/testing/counter.h"
#include "perf/call/session_server.h"
#include "perf/call/timed_call.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge {
namespace {

using testing::counter;
using testing::ScriptedImplementation;

constexpr int kCalls = 1000;  // many, because one of the two answering processes may be slow

constexpr const char* kCounter = "BACKGAUGE_TEST_COUNTER";

void leave_a_thread_spinning() {
  static std::atomic<std::uint64_t>& turns = counter();
  static std::thread* const spinning = new std::thread([] {
    for (;;) ++turns;
  });
  (void)spinning;
}

struct EndsBadly {
  ~EndsBadly() { std::abort(); }
};

const std::map<std::string, void (*)()> kDeeds{
    {"good", [] {}},
    {"spins", leave_a_thread_spinning},
    {"leaves its group and spins",
     [] {
       setpgid(0, getpgid(getppid()));
       leave_a_thread_spinning();
     }},
    {"crashes", [] { raise(SIGSEGV); }},
    {"exits", [] { std::exit(3); }},
    {"waits",
     [] {
       for (;;) pause();
     }},
    {"hoards",
     [] {
       std::vector<char> much(std::size_t{256} << 20, 'x');
       std::this_thread::sleep_for(std::chrono::seconds(much.back() == 'x' ? 1 : 0));
     }},
    {"ends badly", [] { static EndsBadly last; }},
    {"answers twice",
     [] {
       static const pid_t other = fork();
       (void)other;
     }},
};

const backgauge_implementation* open_scripted(const std::string& name, std::string& error) {
  const auto deed = kDeeds.find(name);
  if (deed == kDeeds.end()) {
    error = name + ": no such implementation";
    return nullptr;
  }
  static ScriptedImplementation scripted;
  scripted.after_run = [deed = deed->second](const backgauge_call&) { deed(); };
  return &scripted.table;
}

class SessionProcessTest : public ::testing::Test {
 protected:
  SessionProcessTest() {
    std::string error;
    filled = fill(parse_case("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1", error).value());
  }
  const Problem& problem() const { return filled.problem; }

  // The message of a session that has to end.
  std::string last_words(const char* name) {
    try {
      SessionProcess session(name, problem(), {});
      for (int k = 0; k < kCalls; ++k) session.time(1);
    } catch (const ContestantError& error) {
      EXPECT_EQ(error.status, Status::kBroken);
      return error.what();
    }
    return "";
  }

  // Checks that a thread of the session makes progress before and after, but not during, a pause.
  void expect_sleep(const char* name) {
    char path[] = "/tmp/backgauge-counter-XXXXXX";
    const int file = mkstemp(path);
    ASSERT_EQ(ftruncate(file, sizeof(std::uint64_t)), 0);
    close(file);
    setenv(kCounter, path, 1);
    const std::atomic<std::uint64_t>& turns = counter();
    SessionProcess session(name, problem(), {.threads = 2});
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t before = turns;
      while (turns == before) std::this_thread::yield();
      session.pause();
      session.pause();
      const std::uint64_t asleep = turns;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(turns, asleep);
      session.resume();
      EXPECT_GT(session.time(1).seconds, 0);
    }
    std::remove(path);
  }

  Filled filled;
};

TEST_F(SessionProcessTest, ComputesWhatASessionHereComputes) {
  ScriptedImplementation scripted;
  TimedCall here(scripted.table, problem(), {});
  SessionProcess there("good", problem(), {});
  for (Session* session : {static_cast<Session*>(&here), static_cast<Session*>(&there)}) {
    EXPECT_GT(session->loaded().first_call, 0);
    session->turn(5);
    EXPECT_GT(session->time(3).seconds, 0);
  }
  for (const bool again : {false, true}) {
    const Computed mine = here.computed(again), its = there.computed(again);
    ASSERT_EQ(mine.outputs.size(), its.outputs.size());
    for (std::size_t k = 0; k < mine.outputs.size(); ++k) {
      EXPECT_EQ(mine.outputs[k].name, its.outputs[k].name);
      EXPECT_EQ(mine.outputs[k].values, its.outputs[k].values);
    }
  }
}

TEST_F(SessionProcessTest, AsleepItsThreadsDoNotRun) { expect_sleep("spins"); }

TEST_F(SessionProcessTest, AsleepItsThreadsDoNotRunWhateverItsGroup) { expect_sleep("leaves its group and spins"); }

TEST_F(SessionProcessTest, WhatItDoesToItselfCostsNobodyElse) {
  EXPECT_EQ(last_words("crashes"), "crash: SIGSEGV while it was timed");
  EXPECT_EQ(last_words("exits"), "exit: status 3 while it was timed");
  EXPECT_EQ(last_words("ends badly"), "");
}

TEST_F(SessionProcessTest, WhatTakesTooLongOrTooMuchIsEnded) {
  const auto last_words_with = [&](const char* name, const SessionLimits& limits) -> std::string {
    try {
      SessionProcess session(name, problem(), {}, {}, std::make_shared<Conduct>(), limits);
    } catch (const ContestantError& error) {
      EXPECT_EQ(error.status, Status::kBroken);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(last_words_with("waits", {.timeout = std::chrono::milliseconds(100)}),
            "timeout: has not returned within 1.1 s, with --timeout=0.1s");
  const std::string hoards = last_words_with("hoards", {.memory = std::uint64_t{64} << 20});
  EXPECT_TRUE(hoards.starts_with("memory: its process holds ")) << hoards;
  EXPECT_EQ(last_words_with("hoards", {.memory = std::uint64_t{1} << 30}), "");
}

TEST_F(SessionProcessTest, AnAnswerThatNobodyHasAskedForIsNotBelieved) {
  EXPECT_EQ(last_words("answers twice"), "connection: its process sent an unexpected answer");
}

TEST_F(SessionProcessTest, WhatCannotBeOpenedSaysWhy) {
  try {
    SessionProcess session("nobody", problem(), {});
    FAIL();
  } catch (const ContestantError& error) {
    EXPECT_STREQ(error.what(), "nobody: no such implementation");
  }
}

}  // namespace
}  // namespace backgauge

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) {
    backgauge::session_main({argv + 2, argv + argc}, backgauge::open_scripted);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
