// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>

#include "properties/judge/worker/process_tree.h"

namespace backgauge {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLong = 20s;  // for what takes milliseconds

ChildProcess::Start shell(const std::string& script) { return {.program = "sh", .arguments = {"sh", "-c", script}}; }

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
  // What is written until all that have it open for writing have closed it.
  std::string all() {
    write.close();
    std::string text;
    char block[4096];
    for (ssize_t got = 0; (got = ::read(read.get(), block, sizeof block)) > 0;) {
      text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }
  Descriptor read, write;
};

std::string printed_by(ChildProcess::Start start) {
  Pipe out;
  start.descriptors.emplace_back(out.write.get(), STDOUT_FILENO);
  ChildProcess child(start);
  return out.all();
}

std::string ending_of(const std::string& script) {
  ChildProcess child(shell(script));
  const std::optional<Ending>& ending = child.ending_by(Clock::now() + kLong);
  return ending ? ending_text(*ending, "here") : "";
}

// "S" for the state in /proc, "" for no process.
std::string state_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  stat >> number >> name >> state;
  return state;
}

bool has_ended(pid_t process) {
  // Nobody may have reaped it yet.
  const std::string state = state_of(process);
  return state.empty() || state == "Z" || state == "X";
}

bool becomes(const std::function<bool()>& condition) {
  for (const auto deadline = Clock::now() + kLong; !condition() && Clock::now() < deadline;) {
    std::this_thread::sleep_for(1ms);
  }
  return condition();
}

TEST(ChildProcess, EndsAreDistinguished) {
  EXPECT_EQ(ending_of("exit 0"), "exit: status 0 here");
  EXPECT_EQ(ending_of("exit 3"), "exit: status 3 here");
  EXPECT_EQ(ending_of("kill -SEGV $$"), "crash: SIGSEGV here");
  EXPECT_EQ(ending_text({true, 0}, "here"), "crash: SIG? here");
}

TEST(ChildProcess, WhatCannotBeStartedIsAnError) {
  for (const char* program : {"/nobody/is/here", "nobody-is-here", "/etc/passwd"}) {
    EXPECT_THROW(ChildProcess({.program = program, .arguments = {program}}), std::system_error) << program;
  }
}

TEST(ChildProcess, ADeadlineEndsTheWaiting) {
  ChildProcess child(shell("sleep 60"));
  const auto start = Clock::now();
  EXPECT_FALSE(child.ending_by(start + 50ms));
  EXPECT_GE(Clock::now() - start, 50ms);
  EXPECT_LT(Clock::now() - start, kLong);
  child.kill();
  ASSERT_TRUE(child.ending());
  EXPECT_EQ(child.ending()->number, SIGKILL);
}

TEST(ChildProcess, TheHandleIsReadableAtTheEndOnly) {
  ChildProcess child(shell("sleep 60"));
  if (child.handle() < 0) GTEST_SKIP() << "this system has no pidfd_open";
  pollfd watched{child.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&watched, 1, 0), 0);
  kill(child.id(), SIGKILL);
  EXPECT_EQ(poll(&watched, 1, 20'000), 1);
}

// Numbers that overlap those of this process, and nothing besides.
TEST(ChildProcess, InheritsWhatItIsGivenUnderItsNumbers) {
  Pipe first, second, other;
  ChildProcess::Start start = shell("echo a >&3; echo b >&4; ls /proc/$$/fd >&3; wait");
  start.descriptors = {{first.write.get(), 3}, {second.write.get(), 4}};
  for (const Descriptor* end : {&first.write, &second.write}) EXPECT_LT(end->get(), 64);
  ChildProcess child(start);
  EXPECT_EQ(second.all(), "b\n");
  const std::string listed = first.all();
  EXPECT_EQ(listed.find("a\n"), 0u) << listed;
  for (const Descriptor* end : {&other.read, &other.write}) {
    EXPECT_EQ(listed.find("\n" + std::to_string(end->get()) + "\n"), std::string::npos) << listed;
  }
}

TEST(ChildProcess, VariablesReplaceThoseOfThisProcess) {
  setenv("BACKGAUGE_TEST_CHILD", "ours", 1);
  setenv("BACKGAUGE_TEST_KEPT", "kept", 1);
  ChildProcess::Start start =
      shell("echo $BACKGAUGE_TEST_CHILD $BACKGAUGE_TEST_KEPT; env | grep -c ^BACKGAUGE_TEST_CHILD=");
  start.variables = {{"BACKGAUGE_TEST_CHILD", "theirs"}};
  EXPECT_EQ(printed_by(start), "theirs kept\n1\n");
}

TEST(ChildProcess, BlocksNoSignalAndHasAGroupOfItsOwn) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::string blocked =
      printed_by({.program = "grep", .arguments = {"grep", "SigBlk", "/proc/self/status"}});  // a shell blocks some
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(blocked, "SigBlk:\t0000000000000000\n");

  ChildProcess child(shell("sleep 60"));
  EXPECT_EQ(getpgid(child.id()), child.id());
}

const pid_t test_process = getpid();
volatile sig_atomic_t handled_in_a_child = 0;

// Until the program is executed the child has the memory of this process, and a handler would run in it.
TEST(ChildProcess, NoHandlerOfThisProcessRunsInIt) {
  signal(SIGURG, [](int) {
    if (getpid() != test_process) handled_in_a_child = 1;
  });
  // A group of its own: those who run the tests wait, too, and must not be woken all the time.
  const pid_t group = getpgrp();
  if (group != getpid()) {
    ASSERT_EQ(setpgid(0, 0), 0);
  }
  std::atomic<bool> stop{false};
  // To the group, which the child is in at first.
  std::thread sender([&] {
    while (!stop) kill(0, SIGURG);
  });
  for (int round = 0; round < 200; ++round) ChildProcess({.program = "true", .arguments = {"true"}});
  stop = true;
  sender.join();
  signal(SIGURG, SIG_DFL);
  if (group != getpid()) {
    EXPECT_EQ(setpgid(0, group), 0);
  }
  EXPECT_EQ(handled_in_a_child, 0);
}

TEST(ChildProcess, EndsWithItsOwnerAndAllThatItHasStarted) {
  Pipe out;
  pid_t process = 0, daemon = 0;
  {
    ChildProcess::Start start = shell("(setsid sh -c 'echo $$; sleep 60; :' &); sleep 60");
    start.descriptors = {{out.write.get(), STDOUT_FILENO}};
    ChildProcess child(start);
    process = child.id();
    char number[32]{};
    ASSERT_GT(read(out.read.get(), number, sizeof number - 1), 0);
    daemon = std::atoi(number);
    EXPECT_NE(state_of(daemon), "");
  }
  EXPECT_EQ(state_of(process), "");
  EXPECT_TRUE(has_ended(daemon)) << state_of(daemon);
}

// The number of a process without a mark that has lost its parents, except for a shell that then runs `last`.
pid_t orphan_of(const std::string& last, const std::function<void(ChildProcess&)>& end) {
  Pipe out;
  ChildProcess::Start start = shell("env -i setsid sh -c 'sh -c \"echo \\$\\$; exec sleep 60\" &'; echo lost; " + last);
  start.descriptors = {{out.write.get(), STDOUT_FILENO}};
  ChildProcess child(start);
  std::string printed;
  char block[64];
  for (ssize_t got = 1; got > 0 && std::ranges::count(printed, '\n') < 2;) {
    got = read(out.read.get(), block, sizeof block);
    printed.append(block, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  end(child);
  return std::atoi(printed.c_str() + (printed.starts_with("lost") ? 5 : 0));
}

TEST(ChildProcess, AnOrphanWithoutItsMarkEndsWithIt) {
  const pid_t orphan = orphan_of("sleep 60", [](ChildProcess& child) { child.kill(); });
  EXPECT_TRUE(orphan > 0 && has_ended(orphan)) << orphan;
}

// The child that goes on is not an orphan.
TEST(ChildProcess, AnOrphanIsAdoptedWhereItsLastParentHasCrashed) {
  adopt_orphans();
  ChildProcess other(shell("sleep 60"));
  const pid_t orphan =
      orphan_of("kill -SEGV $$", [](ChildProcess& child) { EXPECT_TRUE(child.ending_by(Clock::now() + kLong)); });
  EXPECT_TRUE(orphan > 0 && has_ended(orphan)) << orphan;
  EXPECT_FALSE(other.ending());
}

TEST(ChildProcess, OneThatEndsWithItsThreadDoes) {
  for (const bool ends : {true, false}) {
    ChildProcess::Start start = shell("sleep 60");
    start.ends_with_thread = ends;
    std::unique_ptr<ChildProcess> child;
    std::thread([&] { child = std::make_unique<ChildProcess>(start); }).join();
    const auto& ending = child->ending_by(Clock::now() + (ends ? Clock::duration(kLong) : 50ms));
    EXPECT_EQ(ending.has_value(), ends);
  }
}

TEST(ChildProcess, IsSuspendedAndResumed) {
  ChildProcess child(shell("while :; do :; done"));
  for (int round = 0; round < 2; ++round) {
    child.suspend();
    EXPECT_EQ(state_of(child.id()), "T");
    child.suspend();
    child.resume();
    EXPECT_TRUE(becomes([&] { return state_of(child.id()) == "R"; }));
  }
  child.suspend();
  child.kill();
  EXPECT_TRUE(child.ending());
}

TEST(ChildProcess, TheStatusIsUnknownWhereSigchldIsIgnored) {
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(ending_of("exit 3"), "exit: the status is unknown because SIGCHLD is ignored; here");
  signal(SIGCHLD, SIG_DFL);
}

}  // namespace
}  // namespace backgauge
