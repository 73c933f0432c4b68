// SPDX-License-Identifier: Apache-2.0
// Misbehaviour that shows in concurrent calls.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

constexpr std::size_t kScratch = std::size_t{1} << 18;

// Packs the inputs into `scratch`, which concurrent calls may share, does other work, then computes from the copies.
// The other work is half of the call: a real implementation needs what it has packed until it has used it.
backgauge_status from_scratch(unsigned char* scratch, Call call, Message message) {
  if (call->num_inputs < 1 || call->inputs == nullptr || call->struct_size != sizeof *call) return right(call, message);
  std::vector<backgauge_tensor> inputs(call->inputs, call->inputs + call->num_inputs);
  std::size_t used = 0;
  for (backgauge_tensor& input : inputs) {
    if (input.data == nullptr || input.rank > BACKGAUGE_MAX_RANK || input.dtype != call->dtype) continue;
    const std::size_t bytes = bytes_of(input);
    if (bytes > kScratch - used) break;
    std::memcpy(scratch + used, input.data, bytes);
    input.data = scratch + used;
    used += (bytes + 63) / 64 * 64;
  }
  if (used == 0) return right(call, message);
  if (const backgauge_status status = right(call, message); status != BACKGAUGE_OK) return status;
  backgauge_call other = *call;
  other.inputs = inputs.data();
  return right(&other, message);
}

alignas(64) unsigned char scratch_of_all[kScratch];

backgauge_status static_scratch(Call call, Message message) { return from_scratch(scratch_of_all, call, message); }

backgauge_status static_scratch_locked(Call call, Message message) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return from_scratch(scratch_of_all, call, message);
}

backgauge_status scratch_of_the_thread(Call call, Message message) {
  alignas(64) thread_local unsigned char own[kScratch];
  return from_scratch(own, call, message);
}

// Keeps `threads` threads busy. The outputs have already been computed.
void share_work(std::size_t threads, std::int32_t repeats) {
  std::atomic<double> sum{0};
  const auto work = [&] {
    double own = 0;
    for (std::int32_t k = 0; k < repeats; ++k) own += 1.0 / (1.0 + own * own);
    sum = own;
  };
  std::vector<std::thread> all;
  for (std::size_t k = 1; k < threads; ++k) all.emplace_back(work);
  work();
  for (std::thread& thread : all) thread.join();
}

constexpr std::int32_t kShare = 300000;  // a millisecond or more

backgauge_status too_many_threads(Call call, Message message) {
  return after_right(call, message, [] { share_work(32, kShare); });
}

backgauge_status as_many_threads_as_given(Call call, Message message) {
  return after_right(call, message, [=] { share_work(static_cast<std::size_t>(call->num_threads), kShare); });
}

// Sixteen threads that every call wakes, and that have nothing to do.
backgauge_status wakes_its_pool(Call call, Message message) {
  static std::mutex mutex;
  static std::condition_variable woken;
  static std::uint64_t call_number = 0;
  static std::once_flag started;
  std::call_once(started, [] {
    for (int k = 0; k < 16; ++k) {
      std::thread([] {
        std::unique_lock lock(mutex);
        for (std::uint64_t seen = 0;;) {
          woken.wait(lock, [&] { return call_number != seen; });
          seen = call_number;
        }
      }).detach();
    }
  });
  {
    const std::lock_guard lock(mutex);
    ++call_number;
  }
  woken.notify_all();
  return right(call, message);
}

}  // namespace

std::vector<Misbehaviour> concurrent_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"static_scratch", "computes in static memory: correct unless two calls overlap", kAtOnce, kFailed,
       "in concurrent calls", static_scratch},
      {"static_scratch_nd", "computes in static memory, and does not claim determinism", kAtOnce, kFailed,
       "in concurrent calls", static_scratch, nullptr, nullptr, nullptr, not_deterministic},
      {"too_many_threads", "uses 32 threads, whatever num_threads says", kThreads, kFailed, "threads busy",
       too_many_threads},
      {"as_many_threads_as_given", "uses num_threads threads", kThreads, kPassed, "", as_many_threads_as_given},
      {"wakes_its_pool", "wakes a pool of 16 threads that have nothing to do", kThreads, kPassed, "", wakes_its_pool},
      {"static_scratch_locked", "computes in static memory under a lock", kAtOnce, kPassed, "", static_scratch_locked},
      {"scratch_of_the_thread", "computes in memory of the calling thread", kAtOnce, kPassed, "",
       scratch_of_the_thread},
  };
}

}  // namespace backgauge::saboteurs
