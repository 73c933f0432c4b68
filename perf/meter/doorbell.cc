// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/doorbell.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <thread>
#include <vector>

#include "perf/meter/statistics.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

long futex(const Doorbell::Count& count, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &count, operation, value, timeout, nullptr, 0);
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(k, &set)) out.push_back(k);
  }
  return out;
}

// Keeps the calling thread on a processor, if the system permits it.
void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// The seconds of each turn; where one is not heard for a second, the last is that one.
std::vector<double> turns() {
  constexpr std::uint32_t kRounds = 400;
  constexpr std::chrono::seconds kPatience{1};
  const std::vector<int> processors = allowed_processors();
  Doorbell::Count one{0}, two{0};
  std::vector<double> seconds;
  std::jthread answering([&] {
    stay_on(processors.back());
    Doorbell bell(two, one);
    for (std::uint32_t turn = 1; turn <= kRounds && bell.heard(turn, kPatience); ++turn) bell.ring(turn);
  });
  std::jthread asking([&] {
    stay_on(processors.front());
    Doorbell bell(one, two);
    bool heard = true;
    for (std::uint32_t turn = 1; heard && turn <= kRounds; ++turn) {
      const auto begin = Clock::now();
      bell.ring(turn);
      heard = bell.heard(turn, kPatience);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  });
  asking.join();
  answering.join();
  return seconds;
}

}  // namespace

void Doorbell::ring(std::uint32_t turn) {
  own_ = turn;
  futex(own_, FUTEX_WAKE, INT_MAX, nullptr);
}

bool Doorbell::heard(std::uint32_t turn, std::chrono::milliseconds patience) const {
  const auto begin = Clock::now();
  for (;;) {
    const std::uint32_t now = other_;
    if (now >= turn) return true;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(begin + patience - Clock::now()).count();
    if (left <= 0) return false;
    const timespec timeout{static_cast<std::time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    futex(other_, FUTEX_WAIT, now, &timeout);
  }
}

double seconds_of_a_turn() {
  static const double measured = median(turns());
  return measured;
}

double longest_turn() { return std::ranges::max(turns()); }

}  // namespace backgauge
