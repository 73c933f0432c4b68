// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/interrupt.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <thread>

#include "ci/options/command_error.h"
#include "properties/judge/worker/process_tree.h"

namespace backgauge::cli {
namespace {

using std::chrono::milliseconds;

// Most cases end within this time, and so does a call of most implementations.
constexpr milliseconds kUntilChildrenEnd{500};
// The rest of two seconds, but for what a busy machine needs to wake a thread: files are written in this time.
constexpr milliseconds kUntilTheEnd{1300};
// Killed processes die without being waited for; those that they have started meanwhile are looked for in this time.
constexpr milliseconds kForTheLast{100};

volatile std::sig_atomic_t requested = 0;
std::atomic<bool> children_ended{false};
std::atomic<int> guards{0};
sem_t signals;  // posted by each signal; never destroyed, because the thread below outlives main()

extern "C" void request_stop(int) {
  const int before = errno;
  requested = 1;
  sem_post(&signals);
  errno = before;
}

void wait_for_a_signal() {
  while (sem_wait(&signals) != 0) {
  }
}

// False if another signal comes first.
bool passes_without_a_signal(milliseconds time) {
  timespec end{};
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += std::chrono::nanoseconds(time).count();
  end.tv_sec += end.tv_nsec / 1'000'000'000;
  end.tv_nsec %= 1'000'000'000;
  while (sem_timedwait(&signals, &end) != 0) {
    if (errno == ETIMEDOUT) return true;
  }
  return false;
}

// For a thread of its own. The main thread ends the process if it comes to the end of its work first.
void end_in_time() {
  wait_for_a_signal();
  if (guards > 0 && passes_without_a_signal(kUntilChildrenEnd)) {
    children_ended = true;
    end_descendants(kForTheLast);
    passes_without_a_signal(kUntilTheEnd);
  }
  // Who waits for a process that is ended here must not take that for a crash and say so. A thread may hold a stream
  // that nobody reads: it prints nothing either.
  for (FILE* stream : {stdout, stderr}) ftrylockfile(stream);
  end_descendants(kForTheLast);
  // Not through stdio, which the thread that is ended here may have locked.
  constexpr std::string_view kText = "backgauge: interrupted; what was being written may be incomplete\n";
  [[maybe_unused]] const ssize_t told = guards > 0 ? write(STDERR_FILENO, kText.data(), kText.size()) : 0;
  _exit(kInterrupted);
}

}  // namespace

void answer_interrupts() {
  sem_init(&signals, 0, 0);
  // Blocked in this thread, so that the signals reach those that may be delayed by one.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(end_in_time).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

InterruptGuard::InterruptGuard() { ++guards; }
InterruptGuard::~InterruptGuard() { --guards; }

bool interrupted() { return requested != 0; }

bool cut_short() { return children_ended; }

}  // namespace backgauge::cli
