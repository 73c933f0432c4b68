// SPDX-License-Identifier: Apache-2.0
#include "perf/machine/probe.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "perf/machine/probe_kernels.h"
#include "perf/workload/cost_model.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTrialsPerLimit = 5;
constexpr std::chrono::microseconds kTrial{4000};
constexpr std::int64_t kSteps = 4096;  // FMA steps between two readings of the clock: about 10 us

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Runs work(thread) on all threads at the same time; it returns the amount of work done. On output the total amount per
// second between the first start and the last end.
template <class WorkOfThread>
double rate_of(int threads, const WorkOfThread& work) {
  struct Share {
    double done = 0;
    Clock::time_point start, end;
  };
  std::vector<Share> shares(static_cast<std::size_t>(threads));
  std::atomic<int> ready{0};
  const auto body = [&](int thread) {
    Share& share = shares[static_cast<std::size_t>(thread)];
    ready.fetch_add(1);
    while (ready.load() < threads) std::this_thread::yield();
    share.start = Clock::now();
    share.done = work(thread);
    share.end = Clock::now();
  };
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
    body(0);
  }
  double done = 0;
  Clock::time_point start = shares[0].start, end = shares[0].end;
  for (const Share& share : shares) {
    done += share.done;
    start = std::min(start, share.start);
    end = std::max(end, share.end);
  }
  return done / seconds(end - start);
}

template <class Repeated>
double best_of(const Repeated& rate) {
  double best = 0;
  for (int trial = 0; trial < kTrialsPerLimit; ++trial) best = std::max(best, rate());
  return best;
}

// Two halves for each thread, written once so that their pages exist.
class Buffers {
 public:
  Buffers(int threads, std::size_t half) : half_(half) {
    for (int thread = 0; thread < threads; ++thread) {
      void* memory = std::aligned_alloc(4096, 2 * half);
      if (memory == nullptr) throw std::bad_alloc();
      std::memset(memory, 0, 2 * half);
      memory_.emplace_back(static_cast<std::byte*>(memory), &std::free);
    }
  }
  std::byte* first(int thread) const { return memory_[static_cast<std::size_t>(thread)].get(); }
  std::byte* second(int thread) const { return first(thread) + half_; }
  std::size_t half() const { return half_; }

 private:
  std::size_t half_;
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> memory_;
};

// Repeats `pass` on every thread for this time, at least once. Returns what it does, in units of 10^9 a second.
template <class Pass>
double repeated(int threads, std::chrono::microseconds duration, const Pass& pass) {
  const auto body = [&](int thread) {
    double done = 0;
    const Clock::time_point end = Clock::now() + duration;
    do done += pass(thread);
    while (Clock::now() < end);
    return done;
  };
  return rate_of(threads, body) / kGiga;
}

struct ReadAndCopy {
  double read = 0, copy = 0;
};

// `bytes` per thread. Small buffers are passed over so often that reading the clock does not count.
ReadAndCopy bandwidth(int threads, std::size_t bytes) {
  constexpr std::size_t kBetweenLooks = 1 << 18;
  const std::size_t half = std::max<std::size_t>(bytes / 2 / 4096, 1) * 4096;
  const Buffers buffers(threads, half);
  const std::size_t passes = std::max<std::size_t>(kBetweenLooks / (2 * half), 1);
  const auto all = static_cast<double>(2 * half * passes);
  const auto best = [&](const auto& loop) {
    return best_of([&] {
      return repeated(threads, kTrial, [&](int thread) {
        for (std::size_t pass = 0; pass < passes; ++pass) loop(thread);
        return all;
      });
    });
  };
  ReadAndCopy out;
  out.read = best([&](int thread) { read_loop(buffers.first(thread), 2 * half); });
  out.copy = best([&](int thread) { copy_loop(buffers.first(thread), buffers.second(thread), half); });
  // Non-temporal stores pay off if neither half stays in a cache; a copy may use either kind.
  out.copy =
      std::max(out.copy, best([&](int thread) { stream_loop(buffers.first(thread), buffers.second(thread), half); }));
  return out;
}

}  // namespace

double Bandwidth::at(double bytes, const Machine& machine, int threads) const {
  const auto holds = [&](std::int64_t size, bool shared) {
    return bytes / (shared ? 1 : threads) <= static_cast<double>(size);
  };
  if (holds(machine.l1_bytes, false)) return l1;
  if (holds(machine.l2_bytes, false)) return l2;
  return holds(machine.l3_bytes, true) ? l3 : memory;
}

Limits probe_limits(const Machine& machine, int threads) {
  Limits limits;
  limits.fma_f32 = best_of([&] { return fma_rate(BACKGAUGE_FLOAT32, threads, kTrial); });
  limits.fma_f64 = best_of([&] { return fma_rate(BACKGAUGE_FLOAT64, threads, kTrial); });
  const auto measure = [&](std::int64_t bytes, double Bandwidth::*level) {
    if (bytes <= 0) return;
    const ReadAndCopy found = bandwidth(threads, static_cast<std::size_t>(bytes));
    limits.read.*level = found.read;
    limits.copy.*level = found.copy;
  };
  // Half the size of a level certainly fits in it; four times the last level certainly does not.
  measure(machine.l1_bytes / 2, &Bandwidth::l1);
  measure(machine.l2_bytes / 2, &Bandwidth::l2);
  measure(machine.l3_bytes / 2 / threads, &Bandwidth::l3);
  constexpr std::int64_t kLeast = 1 << 26, kMost = 1 << 28;
  const std::int64_t last = std::max({machine.l1_bytes, machine.l2_bytes, machine.l3_bytes});
  measure(std::clamp(4 * last / threads, kLeast, kMost), &Bandwidth::memory);
  return limits;
}

double fma_rate(backgauge_dtype dtype, int threads, std::chrono::microseconds duration) {
  const auto loop = dtype == BACKGAUGE_FLOAT64 ? fma_loop_f64 : fma_loop_f32;
  return repeated(threads, duration, [&](int) { return loop(kSteps); });
}

}  // namespace backgauge
