// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/runner/case_session.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;
using Masks = std::vector<std::vector<std::uint8_t>>;

// On a single processor, threads are switched every few milliseconds, and each switch makes one call overlap. This is
// several times what 32 of each of four threads take there under load.
constexpr std::chrono::seconds kLongestRound{10};

// What the threads share: their start, and counts of calls.
class Meeting {
 public:
  Meeting(std::size_t threads, const TogetherEnd& end)
      : begun_(threads), overlapped_(threads), end_(end), start_(static_cast<std::ptrdiff_t>(threads)) {}

  void wait_for_all() { start_.arrive_and_wait(); }

  std::uint64_t begun_by_others(std::size_t thread) const { return calls() - begun_[thread]; }
  void begin(std::size_t thread) { ++begun_[thread]; }
  void overlap(std::size_t thread) { ++overlapped_[thread]; }
  void stop() { stopped_ = true; }
  bool over() const {
    const Clock::duration time = Clock::now() - begin_;
    return stopped_ || (fewest() >= end_.overlaps && time >= end_.time) || time >= kLongestRound;
  }

  std::uint64_t calls() const { return std::accumulate(begun_.begin(), begun_.end(), std::uint64_t{0}); }
  std::uint64_t overlapped() const { return std::accumulate(overlapped_.begin(), overlapped_.end(), std::uint64_t{0}); }
  std::uint64_t fewest() const { return *std::ranges::min_element(overlapped_); }

 private:
  std::vector<std::atomic<std::uint64_t>> begun_, overlapped_;  // of each thread
  const TogetherEnd end_;
  std::atomic<bool> stopped_{false};
  std::barrier<> start_;
  const Clock::time_point begin_ = Clock::now();
};

// The largest difference of two tensors, relative to the largest value of the first; inf if an element is finite in
// only one of them.
double farthest_apart(const std::vector<double>& first, const std::vector<double>& second) {
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (std::isfinite(first[k]) != std::isfinite(second[k])) return std::numeric_limits<double>::infinity();
    if (!std::isfinite(first[k])) continue;
    largest = std::max(largest, std::fabs(first[k]));
    difference = std::max(difference, std::fabs(first[k] - second[k]));
  }
  return largest > 0 ? difference / largest : difference > 0 ? std::numeric_limits<double>::infinity() : 0;
}

// One function with one call: its results alone, and its repetitions in memory of its own.
class Turn {
 public:
  using Function = std::function<backgauge_status(const backgauge_call&, backgauge_message&)>;

  Turn(const backgauge_implementation& implementation, Problem problem, std::vector<RawTensor> raw,
       const TogetherCall& subject, const RunOptions& options, Function function, std::vector<Output> alone)
      : implementation_(implementation),
        problem_(std::move(problem)),
        raw_(std::move(raw)),
        subject_(subject),
        function_(std::move(function)),
        alone_(std::move(alone)),
        described_(implementation, problem_, raw_, options, observer_),
        placed_(implementation, problem_, raw_, options, observer_) {
    if (!placed_.prepare()) throw std::runtime_error("prepare gave another answer than before");
  }

  void guarded(const std::function<void()>& body) { placed_.guarded(body); }

  // Makes one call. False if its results differ from those of the call alone. In device memory, and if bits need not
  // repeat, that is checked only in finish().
  bool take(Meeting& meeting, std::size_t thread) {
    backgauge_message message{};
    if (!prepares_as_before(message)) return false;
    placed_.refill();
    const std::uint64_t before = meeting.begun_by_others(thread);
    meeting.begin(thread);
    const backgauge_status status = function_(placed_.c(), message);
    if (meeting.begun_by_others(thread) != before) meeting.overlap(thread);
    if (status != BACKGAUGE_OK) fault_ = fmt::format("returned {}", call_status_word(status));
    if (status != BACKGAUGE_OK || placed_.c().memory_space != BACKGAUGE_HOST || gave_what_it_gives_alone()) {
      return status == BACKGAUGE_OK;
    }
    if (!subject_.repeats) keep_the_farthest();
    return !subject_.repeats;
  }

  bool forward() const { return traits_of(problem_.op).gradient.has_value(); }

  // To be called after the last call. On output in `fault` what is wrong, and the outputs of the last call or, if bits
  // need not repeat, of the call that differs most from the call alone.
  RunResult finish(std::vector<CallMemory>& memories, std::string& fault) {
    RunResult result = placed_.finish();
    result.status = BACKGAUGE_OK;
    memories.push_back(placed_.take_memory());
    fault = fault_;
    if (const auto verdict = verdict_of_failed_run(result); fault.empty() && verdict) fault = verdict->reason;
    if (fault.empty() && subject_.repeats && !alone_.empty()) fault = first_difference(alone_, result.outputs);
    if (!farthest_.empty()) result.outputs = std::move(farthest_);
    return result;
  }
  const std::vector<Output>& alone() const { return alone_; }

 private:
  bool prepares_as_before(backgauge_message& message) {
    if (implementation_.prepare == nullptr) return true;
    backgauge_plan plan{};
    plan.struct_size = sizeof plan;
    if (implementation_.prepare(&described_.c(), &plan, &message) == BACKGAUGE_OK &&
        plan.workspace_bytes == placed_.c().workspace_bytes) {
      return true;
    }
    fault_ = "prepare gave another answer than for the call alone";
    return false;
  }

  bool gave_what_it_gives_alone() const {
    const backgauge_call& call = placed_.c();
    return std::ranges::all_of(alone_, [&](const Output& output) {
      const backgauge_tensor* tensor = backgauge_find(call.outputs, call.num_outputs, output.raw.name.c_str());
      return output.values.empty() || std::memcmp(tensor->data, output.raw.bytes.data(), output.raw.bytes.size()) == 0;
    });
  }

  // Keeps the outputs with the largest difference, relative to the largest value of the tensor.
  void keep_the_farthest() {
    std::vector<Output> now = alone_;
    double distance = 0;
    for (Output& output : now) {
      const backgauge_tensor* tensor =
          backgauge_find(placed_.c().outputs, placed_.c().num_outputs, output.raw.name.c_str());
      if (output.values.empty()) continue;
      const std::vector<double> alone = output.values;
      std::memcpy(output.raw.bytes.data(), tensor->data, output.raw.bytes.size());
      decode(problem_.dtype, output.raw.bytes.data(), output.values);
      distance = std::max(distance, farthest_apart(alone, output.values));
    }
    if (!farthest_.empty() && distance <= distance_) return;
    farthest_ = std::move(now);
    distance_ = distance;
  }

  const backgauge_implementation& implementation_;
  const Problem problem_;
  const std::vector<RawTensor> raw_;
  const TogetherCall& subject_;
  const Function function_;
  const std::vector<Output> alone_;
  const CallObserver observer_;
  PlacedCall described_, placed_;
  std::string fault_;
  std::vector<Output> farthest_;
  double distance_ = 0;
};

// The calls of one thread.
class Caller {
 public:
  Caller(const backgauge_implementation& implementation, const TogetherCall& subject, std::size_t number)
      : implementation_(implementation), subject_(subject), number_(number) {}

  // Makes each call alone and keeps its results.
  void call_alone() {
    InProcessRunner runner(implementation_);
    const auto checked = [](RunResult result) {
      if (const auto verdict = verdict_of_failed_run(result))
        throw std::runtime_error("the call alone failed: " + verdict->reason);
      return result;
    };
    CaseSession session(runner, subject_.problem);
    options_ = session.gradient_options(subject_.options);
    if (session.has_forward()) {
      RunResult made = checked(session.forward(subject_.options));
      DropoutMasks masks = session.dropout_masks(subject_.options);
      if (!masks.unavailable()) {
        checked(std::move(masks.result));
        keep_ = std::move(masks.keep);
      }
      add(session.forward_problem(), {}, implementation_.forward, std::move(made.outputs));
    }
    RunResult result = checked(session.gradient(subject_.options));
    if (!keep_.empty()) add_masks(session.made());
    add(subject_.problem, session.made(), implementation_.run, std::move(result.outputs));
    runner.end_case();
  }

  void call_together(Meeting& meeting) {
    meeting.wait_for_all();
    enter(0, meeting);
  }

  void finish(Together& together, std::vector<CallMemory>& memories) {
    for (const std::unique_ptr<Turn>& turn : turns_) {
      std::string fault;
      RunResult result = turn->finish(memories, fault);
      together.note(number_, fault);
      if (subject_.repeats || turn->alone().empty() || first_difference(turn->alone(), result.outputs).empty())
        continue;
      std::erase_if(result.outputs, [](const Output& output) { return output.values.empty(); });
      together.strays.push_back({std::move(result.outputs), keep_, number_, turn->forward() ? 1u : 0u});
    }
  }

 private:
  void add(const Problem& problem, const std::vector<RawTensor>& raw, decltype(backgauge_implementation::run) function,
           std::vector<Output> alone) {
    turns_.push_back(std::make_unique<Turn>(
        implementation_, problem, raw, subject_, options_,
        [function](const backgauge_call& call, backgauge_message& message) { return function(&call, &message); },
        std::move(alone)));
  }

  void add_masks(const std::vector<RawTensor>& raw) {
    const auto ask = [this](const backgauge_call& call, backgauge_message& message) {
      for (std::size_t gap = 0; gap < keep_.size(); ++gap) {
        std::vector<std::uint8_t> keep(keep_[gap].size(), 0xff);
        const backgauge_status status =
            implementation_.dropout_mask(&call, static_cast<std::int32_t>(gap), keep.data(), &message);
        if (status != BACKGAUGE_OK) return status;
        if (keep != keep_[gap]) throw std::runtime_error("reported another dropout mask than the call alone");
      }
      return BACKGAUGE_OK;
    };
    turns_.push_back(
        std::make_unique<Turn>(implementation_, subject_.problem, raw, subject_, options_, ask, std::vector<Output>()));
  }

  // Accesses to guard pages are recorded for all turns during all calls: switching that on takes longer than a small
  // call.
  void enter(std::size_t turn, Meeting& meeting) {
    if (turn == turns_.size()) return call_until_over(meeting);
    turns_[turn]->guarded([&] { enter(turn + 1, meeting); });
  }

  void call_until_over(Meeting& meeting) {
    do {
      for (const std::unique_ptr<Turn>& turn : turns_) {
        if (!turn->take(meeting, number_)) return meeting.stop();
      }
    } while (!meeting.over());
  }

  const backgauge_implementation& implementation_;
  const TogetherCall& subject_;
  const std::size_t number_;
  RunOptions options_;  // of the turns
  std::vector<std::unique_ptr<Turn>> turns_;
  Masks keep_;
};

}  // namespace

Together call_together(const backgauge_implementation& implementation, const std::vector<TogetherCall>& calls,
                       std::vector<CallMemory>& memories, const TogetherEnd& end) {
  Together together;
  std::vector<Caller> callers;
  for (std::size_t k = 0; k < calls.size(); ++k) callers.emplace_back(implementation, calls[k], k);
  for (std::size_t k = 0; k < callers.size(); ++k) {
    try {
      callers[k].call_alone();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      together.note(k, error.what());
      return together;
    }
  }
  Meeting meeting(callers.size(), end);
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < callers.size(); ++k) {
      threads.emplace_back([&, k] {
        std::string fault;
        try {
          callers[k].call_together(meeting);
        } catch (const std::exception& error) {
          fault = error.what();
        } catch (...) {  // thrown by the implementation, whose rules forbid it
          fault = "threw an exception";
        }
        if (fault.empty()) return;
        meeting.stop();
        const std::lock_guard lock(mutex);
        together.note(k, fault);
      });
    }
  }
  for (Caller& caller : callers) caller.finish(together, memories);
  together.calls = meeting.calls();
  together.overlapped = meeting.overlapped();
  together.fewest = meeting.fewest();
  together.enough = end.overlaps;
  return together;
}

}  // namespace backgauge
