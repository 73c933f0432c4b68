// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/thread_use.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "properties/judge/runner/threads.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// A pool of threads may spin after a call before it sleeps: OpenMP of LLVM and Intel does so for 200 ms.
constexpr std::chrono::milliseconds kUntilQuiet{500};
constexpr int kQuietLooks = 3;

// Enough for a mean: if there is one thread too many half of the time, 40 samples all miss it less than once in 10^12.
constexpr int kSamples = 40;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::chrono::seconds kLongestWatch{5};

struct Look {
  bool running = false;     // or ready to run
  std::uint64_t ticks = 0;  // processor time, in nanoseconds if the kernel counts them
};
using Threads = std::map<pid_t, Look>;
constexpr pid_t kNobody = 0;

pid_t own_number() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// All threads of this process except one.
Threads look_around(pid_t but) {
  Threads out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), closedir);
  for (const dirent* entry = folder == nullptr ? nullptr : readdir(folder.get()); entry != nullptr;
       entry = readdir(folder.get())) {
    pid_t thread = 0;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc() || thread == but) continue;
    const std::string task = "/proc/self/task/" + std::string(name);
    const char state = thread_state(task);
    if (state == '\0') continue;
    const std::string times = kernel_text(task + "/schedstat");
    Look look{.running = state == 'R'};
    std::from_chars(times.data(), times.data() + times.size(), look.ticks);
    out.emplace(thread, look);
  }
  return out;
}

bool anyone_running(const Threads& threads) {
  return std::ranges::any_of(threads, [](const auto& each) { return each.second.running; });
}

// Waits until all threads but the caller's sleep. False if they do not.
bool wait_until_quiet() {
  const auto deadline = Clock::now() + kUntilQuiet;
  for (int quiet = 0; quiet < kQuietLooks;) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(2 * kBetweenLooks);
    quiet = anyone_running(look_around(own_number())) ? 0 : quiet + 1;
  }
  return true;
}

// Samples the threads while it exists, and counts the samples that were taken during a call.
class Watcher {
 public:
  Watcher() : before_(look_around(kNobody)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (inside_) take(look_around(own_number()));
        std::this_thread::sleep_for(kBetweenLooks);
      }
    });
  }

  void enter() { inside_ = true; }
  void leave() { inside_ = false; }
  bool enough() const { return taken_ >= kSamples; }

  ThreadUse use() {
    thread_.request_stop();
    thread_.join();
    std::uint64_t most = 0;
    for (const auto& [thread, ticks] : worked_) most = std::max(most, ticks);
    ThreadUse out;
    for (const std::set<pid_t>& running : samples_) {
      out.busy += static_cast<double>(std::ranges::count_if(
          running, [&](pid_t thread) { return !before_.contains(thread) || 4 * worked_[thread] >= most; }));
    }
    out.samples = static_cast<int>(samples_.size());
    if (out.samples > 0) out.busy /= out.samples;
    return out;
  }

 private:
  void take(const Threads& threads) {
    if (!inside_) return;  // the call returned before the sample was complete
    std::set<pid_t> running;
    for (const auto& [thread, look] : threads) {
      if (look.running) running.insert(thread);
      const auto known = before_.find(thread);
      const std::uint64_t then = known == before_.end() ? 0 : known->second.ticks;
      worked_[thread] = look.ticks - std::min(then, look.ticks);
    }
    samples_.push_back(std::move(running));
    taken_ = static_cast<int>(samples_.size());
  }

  Threads before_;
  std::map<pid_t, std::uint64_t> worked_;
  std::vector<std::set<pid_t>> samples_;
  std::atomic<bool> inside_{false};
  std::atomic<int> taken_{0};
  std::jthread thread_;
};

}  // namespace

ThreadUse measure_thread_use(const backgauge_implementation& implementation, const Problem& problem,
                             std::span<const RawTensor> raw, const RunOptions& options) {
  ThreadUse out;
  const CallObserver observer;
  PlacedCall call(implementation, problem, raw, options, observer);
  const auto run = [&](const CallFrame& frame) { return implementation.run(frame.call(), frame.message()); };
  if (!call.prepare()) {
    out.unmeasured = "prepare failed";
    return out;
  }
  call.invoke_guarded("run", run);
  if (look_around(kNobody).empty()) out.unmeasured = "the system does not list the threads of a process";
  if (out.unmeasured.empty() && !wait_until_quiet()) {
    out.unmeasured = "threads keep running after the call has returned";
  }
  if (!out.unmeasured.empty()) return out;
  backgauge_message message{};
  Watcher watcher;
  bool good = true;
  call.guarded([&] {
    for (const auto deadline = Clock::now() + kLongestWatch; good && !watcher.enough() && Clock::now() < deadline;) {
      watcher.enter();
      good = implementation.run(&call.c(), &message) == BACKGAUGE_OK;
      watcher.leave();
    }
  });
  out = watcher.use();
  if (!good) out.fault = "run failed when the same call was repeated";
  if (good && out.samples < kSamples) out.unmeasured = "too little time was spent in calls to count threads";
  return out;
}

}  // namespace backgauge
