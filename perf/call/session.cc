// SPDX-License-Identifier: Apache-2.0
#include "perf/call/session.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "perf/call/timed_call.h"
#include "properties/judge/compare/claims.h"

namespace backgauge {
namespace {

// Calls of this total time show how many threads work: thread clocks are accurate to a microsecond or better.
constexpr double kTelling = 5e-3;

// The clock of a process is read before and after a call that is watched, in half a microsecond each time.
constexpr double kLongerThanClocks = 20e-6;

// Background work of a runtime (a timer, a garbage collector) uses little of a CPU; one thread too many uses a whole
// one, or what the other load of the machine leaves of it.
constexpr double kOnTheSide = 0.5;

// An error of the implementation or of an allocation ends its part in the workload.
template <class Do>
auto answered(const Do& what) {
  try {
    return what();
  } catch (const ContestantError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw ContestantError("needs more memory than is available");
  } catch (const std::runtime_error& error) {
    throw ContestantError(error.what());
  }
}

}  // namespace

std::string too_many_threads(const Timing& timing, int threads) {
  const double busy = timing.cpu_seconds / timing.seconds;
  if (timing.seconds < kTelling || busy < threads + kOnTheSide) return "";
  return fmt::format("keeps {:.1f} CPUs busy with num_threads = {}", busy, threads);
}

LocalSession::LocalSession(const backgauge_implementation& implementation, std::span<std::byte> block,
                           TimedParts* parts)
    : implementation_(implementation), block_(block), parts_(parts) {}

LocalSession::~LocalSession() = default;

Loaded LocalSession::load(const Problem& problem, const LoadOptions& options) {
  options_ = options;
  shapes_ = {problem.op, problem.dtype, problem.attributes, problem.extents, {}, {}};
  return answered([&] {
    call_ = std::make_unique<TimedCall>(implementation_, problem, options.threads, options.evict_bytes, block_, parts_,
                                        options.watched);
    const double first_call = call_->time(1).seconds;
    return Loaded{first_call, call_->empty_call()};
  });
}

void LocalSession::turn(std::uint64_t seed) {
  answered([&] { call_->turn(Signs(shapes_, seed)); });
}

Timing LocalSession::time(std::int64_t calls) {
  return answered([&] {
    const Timing timing = call_->time(calls);
    check_threads(timing);
    return timing;
  });
}

// Only for calls in host memory without pauses: if caches are emptied in between, the CPU time is not that of the
// calls.
void LocalSession::check_threads(const Timing& timing) {
  if (implementation_.memory_space == BACKGAUGE_CUDA || options_.evict_bytes > 0) return;
  so_far_.seconds += timing.seconds;
  so_far_.cpu_seconds += timing.cpu_seconds;
  if (const std::string why = too_many_threads(so_far_, options_.threads); !why.empty()) {
    throw ContestantError(why, Status::kFailed);
  }
}

Computed LocalSession::computed(bool again) {
  return answered([&] {
    if (again) {
      call_->poison_outputs();
      call_->time(1);
    }
    return results(true);
  });
}

Computed LocalSession::results(bool with_outputs) const {
  Computed computed;
  if (with_outputs) computed.outputs = call_->outputs();
  if (!has_random_dropout(shapes_)) return computed;
  auto masks = call_->dropout_masks(shapes_.extents);
  computed.masks_unavailable = !masks.has_value();
  if (masks) computed.keep = std::move(*masks);
  return computed;
}

LocalSession::Served LocalSession::serve(const Sample& sample, CallWatcher& watcher) {
  // Takes the results of the chosen call while the judge does, and only what it cannot read in the block: copies of
  // large outputs would leave the heap that the calls use in another state than the calls themselves do.
  const bool outputs_unseen = implementation_.memory_space == BACKGAUGE_CUDA;
  class Taking : public CallWatcher {
   public:
    Taking(CallWatcher& judge, std::uint32_t chosen, std::function<Computed()> take)
        : judge_(judge), chosen_(chosen), take_(std::move(take)) {}
    void await_preparing(std::uint32_t call) override {
      if (call == chosen_ + 1) taken_ = take_();
      judge_.await_preparing(call);
    }
    void await_calling(std::uint32_t call) override { judge_.await_calling(call); }
    void has_returned(std::uint32_t call) override { judge_.has_returned(call); }
    Computed taken() { return taken_ ? std::move(*taken_) : take_(); }

   private:
    CallWatcher& judge_;
    const std::uint32_t chosen_;
    const std::function<Computed()> take_;
    std::optional<Computed> taken_;
  };
  return answered([&] {
    Taking taking(watcher, sample.chosen, [&] { return results(outputs_unseen); });
    TimedCall::Each each = call_->time_each(shapes_, sample.seed, sample.calls, sample.shift, taking);
    Timing long_calls;
    for (std::size_t k = 0; k < each.seconds.size(); ++k) {
      if (each.seconds[k] < kLongerThanClocks) continue;
      long_calls.seconds += each.seconds[k];
      long_calls.cpu_seconds += each.cpu_seconds[k];
    }
    check_threads(long_calls);
    const double cpu = std::accumulate(each.cpu_seconds.begin(), each.cpu_seconds.end(), 0.0);
    return Served{std::move(each.seconds), cpu, taking.taken()};
  });
}

}  // namespace backgauge
