// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>

#include "properties/judge/compare/claims.h"
#include "properties/judge/runner/threads.h"

namespace backgauge {
namespace {

// A thread that a call leaves behind may belong to a pool, or may write later. It is given time to do so: 20 ms are
// long for a thread that has work, and 50 waits cost a run no more than a second.
constexpr std::chrono::milliseconds kWaitForThreads{20};
constexpr int kMostWaits = 50;
std::atomic<int> waits{0};

// Notices, when it is destroyed, that a call has left threads behind.
class ThreadWatch {
 public:
  explicit ThreadWatch(bool& grew) : grew_(grew), before_(live_threads()) {}
  ~ThreadWatch() { grew_ = grew_ || live_threads() > before_; }
  ThreadWatch(const ThreadWatch&) = delete;
  ThreadWatch& operator=(const ThreadWatch&) = delete;

 private:
  bool& grew_;
  std::size_t before_;
};

}  // namespace

RunResult InProcessRunner::run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) {
  const ThreadWatch watch(threads_grew_);
  refusal_frame_.reset();
  PlacedCall call(implementation_, problem, raw, options, observer_, memory_limit_);
  if (call.prepare()) {
    const bool forward = traits_of(problem.op).gradient.has_value();
    call.invoke_guarded(forward ? "forward" : "run", [&](const CallFrame& frame) {
      return (forward ? implementation_.forward : implementation_.run)(frame.call(), frame.message());
    });
  }
  RunResult result = call.finish();
  if (CallMemory memory = call.take_memory(); memory.arena) memories_.push_back(std::move(memory));
  return result;
}

DropoutMasks InProcessRunner::dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                                            const RunOptions& options) {
  const ThreadWatch watch(threads_grew_);
  DropoutMasks masks;
  PlacedCall call(implementation_, problem, raw, options, observer_, memory_limit_);
  if (call.prepare()) {
    const Extents& e = problem.extents;
    const auto elements = static_cast<std::size_t>(mask_elements(e));
    const std::int64_t count = claims_of(implementation_, problem.op)->mask_count(problem.dtype, e);
    for (std::int64_t gap = 0; gap < count && (gap == 0 || call.result().status == BACKGAUGE_OK); ++gap) {
      constexpr std::uint8_t kUnset = 0xff;
      masks.keep.emplace_back(elements, kUnset);
      call.invoke_guarded(
          "dropout_mask",
          [&](const CallFrame& frame) {
            return implementation_.dropout_mask(frame.call(), static_cast<std::int32_t>(gap),
                                                reinterpret_cast<std::uint8_t*>(frame.answer()), frame.message());
          },
          std::as_writable_bytes(std::span(masks.keep.back())), "keep");
    }
  }
  masks.result = call.finish();
  if (CallMemory memory = call.take_memory(); memory.arena) memories_.push_back(std::move(memory));
  return masks;
}

Together InProcessRunner::run_together(const std::vector<TogetherCall>& calls) {
  const ThreadWatch watch(threads_grew_);
  constexpr const char* kCalls = "concurrent calls";  // of several functions
  if (observer_) observer_(kCalls, true);
  Together together = call_together(implementation_, calls, memories_);
  if (observer_) observer_(kCalls, false);
  return together;
}

ThreadUse InProcessRunner::thread_use(const Problem& problem, std::span<const RawTensor> raw,
                                      const RunOptions& options) {
  if (observer_) observer_("run", true);
  ThreadUse use = measure_thread_use(implementation_, problem, raw, options);
  if (observer_) observer_("run", false);
  return use;
}

MemoryGrowth InProcessRunner::memory_growth(const Problem& problem, std::span<const RawTensor> raw,
                                            const RunOptions& options) {
  const char* const function = traits_of(problem.op).gradient ? "forward" : "run";
  if (observer_) observer_(function, true);
  MemoryGrowth growth = measure_memory_growth(implementation_, problem, raw, options);
  if (observer_) observer_(function, false);
  return growth;
}

RunResult InProcessRunner::end_case() {
  if (threads_grew_ && waits.fetch_add(1) < kMostWaits) std::this_thread::sleep_for(kWaitForThreads);
  threads_grew_ = false;
  RunResult end{.status = BACKGAUGE_OK};
  if (refusal_frame_ != nullptr) {
    end.violations = refusal_frame_->late_violations();
    if (!end.violations.empty()) refusal_frame_.reset();
  }
  for (const CallMemory& memory : memories_) {
    if (memory.mirror) {
      const std::string report = memory.mirror->collect(true);
      if (!report.empty()) end.violations.push_back("after the last call the device reported: " + report);
    }
    for (const Violation& violation : memory.arena->late_violations()) end.violations.push_back(violation.text());
    for (const auto& frame : memory.frames)
      std::ranges::move(frame->late_violations(), std::back_inserter(end.violations));
  }
  memories_.clear();
  return end;
}

}  // namespace backgauge
