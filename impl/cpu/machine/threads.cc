// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/threads.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace backgauge::cpu {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` does nothing on most cores; this takes about as long as x86's pause
#endif
}

}  // namespace

void Barrier::wait(int count) {
  const unsigned generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  // About 10 us: longer than other members are late if each has its own core, and short if they share one.
  constexpr int kSpins = 1000;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    pause();
  }
  generation_.wait(generation, std::memory_order_acquire);
}

int team_size(int most, double work, double work_per_member) {
  constexpr int kLargest = 1024;  // more threads than expected hosts have cores
  return static_cast<int>(std::clamp(work / work_per_member, 1.0, static_cast<double>(std::clamp(most, 1, kLargest))));
}

void detail::run_team(int size, void (*body)(void*, Member&), void* context) {
  Barrier barrier;
  if (size <= 1) {
    Member alone(0, 1, barrier);
    return body(context, alone);
  }
  std::atomic<int> count{0};  // known once it is clear how many could be started
  std::vector<std::jthread> others;
  try {
    others.reserve(static_cast<std::size_t>(size - 1));
    for (int index = 1; index < size; ++index) {
      others.emplace_back([&, index] {
        count.wait(0);
        Member member(index, count.load(), barrier);
        body(context, member);
      });
    }
  } catch (const std::exception&) {  // std::system_error, std::bad_alloc: continue with the threads started so far
  }
  count.store(static_cast<int>(others.size()) + 1);
  count.notify_all();
  Member caller(0, count.load(), barrier);
  body(context, caller);
}

}  // namespace backgauge::cpu
