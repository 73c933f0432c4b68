// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/worker_runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>

#include "properties/case/files/memory_budget.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/runner/threads.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

std::string quoted(const WorkerProcess::Printed& printed) {
  return fmt::format("\"{}{}\"", printable(printed.beginning), printed.bytes > printed.beginning.size() ? "..." : "");
}

const char* function_word(const WorkerState& state) {
  const std::uint32_t function = state.function;
  return function < std::size(WorkerState::kFunctions) ? WorkerState::kFunctions[function] : "an unknown function";
}

std::string fault_text(const WorkerState& state) {
  switch (state.fault) {
    case 1: return fmt::format(" at address {:#x}", state.fault_address.load());
    case 2: return " (stack overflow)";
    default: return "";
  }
}

double seconds(std::chrono::duration<double> time) { return time.count(); }

RunResult& result_of(RunResult& result) { return result; }
RunResult& result_of(DropoutMasks& masks) { return masks.result; }

template <class Result>
std::string& broken_of(Result& result) {
  return result.broken;
}
std::string& broken_of(DropoutMasks& masks) { return masks.result.broken; }

// How often the state of the worker is checked: at most and at least.
constexpr std::chrono::milliseconds kLeastPoll{1}, kAnswerPoll{50};

// After this many timeouts by the clock a call has timed out even if its process has hardly run.
constexpr int kMostWaiting = 10;

// The timeout for what the worker does between calls, placing tensors and comparing them, as a multiple of that for a
// call: filling a workspace of gigabytes takes seconds, which the implementation is not charged for.
constexpr int kOwnShare = 10;

// The timeout for everything that belongs to a request, as a multiple of that for a call. A request makes a few calls,
// or measures for some seconds. Where a call begins is told by the worker's memory, in which its implementation can
// write what it likes: so that alone would be no limit.
constexpr int kWholeShare = 2 * kOwnShare;

// What the worker itself holds for a request, as a multiple of its bytes: tensors with canaries and guard pages in up
// to three placements, results of a forward, which may be several times its inputs, and copies of all of them.
constexpr std::uint64_t kOwnMemory = 32;

// Threads of a worker that do not belong to the implementation: one makes the calls, one waits for the judge.
constexpr std::size_t kOwnThreads = 2;

// Threads that have been joined may still be counted for a moment.
constexpr std::chrono::milliseconds kFarewell{50};

// The threads that calls may leave: four pools with the largest num_threads so far, or one thread per processor. With
// 16 processors, JAX 0.11 on a CUDA device left 59 threads after its first call: three such pools, and 11 of the CUDA
// runtime.
std::size_t threads_allowed(std::int32_t most_threads) {
  const auto processors = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  return 4 * std::max(processors, static_cast<std::size_t>(std::max(1, most_threads)));
}

}  // namespace

WorkerRunner::WorkerRunner(WorkerOptions options) : options_(std::move(options)) { start(); }

bool WorkerRunner::renew() {
  end_process();
  return true;
}

void WorkerRunner::end_process() {
  if (process_ != nullptr) options_.conduct->add(*process_);
  process_.reset();
}

void WorkerRunner::start() {
  const auto fail = [&](const std::string& why) {
    end_process();
    throw LoadError(options_.implementation + ": " + why);
  };
  process_ = std::make_unique<WorkerProcess>(
      options_.program, std::vector<std::string>{options_.implementation, std::to_string(options_.memory_limit)});
  const Answer answer = hear();
  if (!answer.message) fail(answer.broken);
  const auto kind = static_cast<MessageKind>(answer.message->kind);
  if (kind == MessageKind::kNotLoaded) {
    const auto texts = texts_from(answer.message->bytes);
    end_process();
    throw LoadError(texts && texts->size() == 1 ? texts->front() : options_.implementation + ": not loaded");
  }
  std::optional<Introduction> introduction;
  if (kind == MessageKind::kLoaded) introduction = introduction_from(answer.message->bytes);
  if (!introduction) fail("the first message of its process cannot be decoded");
  // Text that is printed while loading does not belong to a call.
  process_->take_printed();
  options_.conduct->add(*process_);
  calls_ = 0;
  threads_at_start_ = std::max(kOwnThreads, live_threads(process_->child().id()));
  if (table_.abi != 0) return;  // the claims of the first worker count
  introduction_ = std::move(*introduction);
  claims_ = ClaimArrays(introduction_.claims);
  table_ = table_of(introduction_, claims_);
}

// The reply as decoded by `read`, or a result that says why there is none; then the worker has been ended.
template <class Read>
auto WorkerRunner::decoded(const Answer& answer, Read read) {
  decltype(read({})) result;
  if (answer.message) result = read(answer.message->bytes);
  if (!result) broken_of(result.emplace()) = answer.message ? end_worker(nonsense()) : answer.broken;
  return *std::move(result);
}

// Makes a call of `op`.
template <class Result, class Read>
Result WorkerRunner::call(MessageKind kind, backgauge_op op, const Writer& request, Read read) {
  if (options_.patience->is_lost(op)) {
    Result none;
    broken_of(none) = fmt::format("{}: {} calls of {} have not returned within {:g} s each, the limit of --timeout",
                                  kNotRun, Patience::kMostTimeouts, find_op(op)->word, seconds(options_.timeout));
    return none;
  }
  const Answer answer = ask(kind, request.bytes());
  if (answer.timed_out) options_.patience->lose(op);
  Result got = decoded(answer, read);
  if (process_ == nullptr) return got;
  const std::string misbehaved = misbehaviour(result_of(got));
  if (broken_of(got).empty()) broken_of(got) = misbehaved;
  return got;
}

RunResult WorkerRunner::run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) {
  most_threads_ = std::max(most_threads_, options.num_threads);
  return call<RunResult>(MessageKind::kRun, problem.op, to_wire(problem, raw, options),
                         [&](std::span<const std::byte> bytes) { return run_result_from(bytes, problem); });
}

DropoutMasks WorkerRunner::dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                                         const RunOptions& options) {
  return call<DropoutMasks>(MessageKind::kDropoutMasks, problem.op, to_wire(problem, raw, options),
                            [&](std::span<const std::byte> bytes) { return dropout_masks_from(bytes, problem); });
}

Together WorkerRunner::run_together(const std::vector<TogetherCall>& calls) {
  std::int32_t threads = 0;
  for (const TogetherCall& call : calls) threads += call.options.num_threads;
  most_threads_ = std::max(most_threads_, threads);
  Together together = decoded(ask(MessageKind::kTogether, to_wire(calls).bytes()),
                              [&](std::span<const std::byte> bytes) { return together_from(bytes, calls); });
  if (process_ == nullptr) return together;
  RunResult result;
  result.function = "concurrent calls";
  together.broken = misbehaviour(result);
  return together;
}

ThreadUse WorkerRunner::thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) {
  most_threads_ = std::max(most_threads_, options.num_threads);
  return decoded(ask(MessageKind::kThreadUse, to_wire(problem, raw, options).bytes()), thread_use_from);
}

MemoryGrowth WorkerRunner::memory_growth(const Problem& problem, std::span<const RawTensor> raw,
                                         const RunOptions& options) {
  most_threads_ = std::max(most_threads_, options.num_threads);
  return decoded(ask(MessageKind::kMemoryGrowth, to_wire(problem, raw, options).bytes()), memory_growth_from);
}

RunResult WorkerRunner::refuse(const Malformed& which) {
  return call<RunResult>(MessageKind::kRefuse, which.op, to_wire(which), result_without_outputs_from);
}

RunResult WorkerRunner::end_case() {
  RunResult end;
  if (case_began_ && process_ != nullptr) {
    end = decoded(ask(MessageKind::kEndCase, {}), result_without_outputs_from);
    if (process_ != nullptr) end.broken = printed();
  }
  end.status = BACKGAUGE_OK;
  case_began_ = false;
  return end;
}

WorkerRunner::Answer WorkerRunner::ask(MessageKind kind, std::span<const std::byte> bytes) {
  // Memory or damage that earlier calls have left behind must not affect this one.
  for (const bool again : {true, false}) {
    if (process_ == nullptr) {
      try {
        start();
      } catch (const LoadError& error) {
        return {{}, std::string("load: ") + error.what()};
      }
    } else if (process_->child().ending()) {
      return {{}, end_worker(why_no_answer() + (case_began_ ? "" : ", of an earlier case"))};
    }
    const bool fresh = calls_++ == 0;
    case_began_ = true;
    process_->channel().state().inside = 0;
    if (options_.program.confinement) before_ = consumption_of(process_->child().id());
    request_bytes_ = bytes.size();
    process_->channel().send(static_cast<std::uint32_t>(kind), ++turn_, bytes);
    const Answer answer = hear();
    if (!answer.message) return answer;
    if (answer.message->turn != turn_) return {{}, end_worker(nonsense())};
    const auto said = static_cast<MessageKind>(answer.message->kind);
    if (said == kind) return answer;
    if (said != MessageKind::kNoMemory && said != MessageKind::kError) return {{}, end_worker(nonsense())};
    const auto texts = texts_from(answer.message->bytes);
    end_process();
    if (!fresh && again) continue;
    if (said == MessageKind::kNoMemory) break;
    throw std::runtime_error(texts && texts->size() == 1 ? texts->front() : "worker: an error without a description");
  }
  throw std::bad_alloc();
}

WorkerRunner::Answer WorkerRunner::hear() {
  const WorkerState& state = process_->channel().state();
  const pid_t process = process_->child().id();
  std::uint32_t turn = state.turns;
  Clock::time_point since = Clock::now();
  TimeOfItsOwn time(process), whole(process);
  for (;;) {
    if (whole.passed() >= kWholeShare * options_.timeout) {
      return {{},
              end_worker(fmt::format("timeout: the process has not answered within {:g} s, {} times --timeout",
                                     seconds(kWholeShare * options_.timeout), kWholeShare)),
              true};
    }
    if (state.turns != turn) {
      turn = state.turns;
      since = Clock::now();
      time = TimeOfItsOwn(process);
    }
    const Seconds limit = state.inside != 0 ? options_.timeout : kOwnShare * options_.timeout;
    const Seconds passed = time.passed(), elapsed = Clock::now() - since;
    if (passed >= limit || elapsed >= kMostWaiting * limit)
      return {{}, end_worker(lateness(limit, passed, elapsed)), true};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - passed);
    if (process_->wait(Clock::now() + std::clamp(left, kLeastPoll, kAnswerPoll))) {
      std::optional<Channel::Message> message = process_->channel().receive();
      if (message) return {message, ""};
      process_->child().ending_soon();
      break;
    }
    if (process_->child().ending()) break;
    if (const std::string why = excess(); !why.empty()) return {{}, end_worker(why)};
  }
  return {{}, end_worker(why_no_answer())};
}

std::string WorkerRunner::lateness(Seconds limit, Seconds passed, Seconds elapsed) const {
  const WorkerState& state = process_->channel().state();
  const std::string what =
      state.inside != 0 ? function_word(state) : fmt::format("the process, after {},", function_word(state));
  const Seconds waited = elapsed - passed;
  return fmt::format("timeout: {} has not returned within {:g} s, {}{}", what, limit.count(),
                     state.inside != 0 ? "the limit of --timeout" : fmt::format("{} times --timeout", kOwnShare),
                     waited < limit ? "" : fmt::format(", and has waited {:.2g} s for a processor", waited.count()));
}

// A confined process could raise the limit of its memory that it has set itself, and use memory that this limit does
// not count.
std::string WorkerRunner::excess() const {
  if (!options_.program.confinement) return "";
  const Consumption now = consumption_of(process_->child().id());
  const std::uint64_t held = now.held_bytes - std::min(before_.held_bytes, now.held_bytes);
  if (options_.memory_limit != 0 && held > options_.memory_limit + kOwnMemory * request_bytes_) {
    return fmt::format("memory: the process holds {} more than before the call, the limit is {}", bytes_text(held),
                       bytes_text(options_.memory_limit));
  }
  const double used = now.cpu_seconds - before_.cpu_seconds;
  // A call may use as much as the timeout on each of its threads; placing and comparing, as much again.
  const double limit = 2 * seconds(options_.timeout) * std::max(1, most_threads_);
  if (used > limit) {
    return fmt::format("cpu: the process has used {:.3g} s in {} or since, the limit is {:.3g} s", used,
                       function_word(process_->channel().state()), limit);
  }
  return "";
}

std::string WorkerRunner::why_no_answer() {
  const WorkerState& state = process_->channel().state();
  const std::string place = fmt::format("{} {}", state.inside != 0 ? "in" : "after", function_word(state));
  const std::optional<Ending>& ending = process_->child().ending();
  if (!ending) return "connection: closed " + place;
  const std::string text = ending_text(*ending, place);
  if (!ending->by_signal) return text;
  // Nobody but the system sends SIGKILL to a worker that the judge has not ended.
  const char* hint = ending->number == SIGKILL ? " (the system may have run out of memory)" : "";
  return text + fault_text(state) + hint;
}

std::string WorkerRunner::nonsense() const {
  return std::string("memory: the process sent a reply that cannot be decoded, after ") +
         function_word(process_->channel().state());
}

std::string WorkerRunner::printed() {
  const WorkerProcess::Printed printed = process_->take_printed();
  if (printed.bytes == 0) return "";
  return fmt::format("output: printed {} bytes to stdout or stderr, {}", printed.bytes, quoted(printed));
}

std::string WorkerRunner::misbehaviour(const RunResult& result) {
  if (result.status == BACKGAUGE_OUT_OF_MEMORY && options_.memory_limit != 0) {
    return end_worker(fmt::format("memory: {} returned out_of_memory under a limit of {}: {}", result.function,
                                  bytes_text(options_.memory_limit), result.message));
  }
  const std::size_t allowed = threads_allowed(most_threads_);
  if (live_threads(process_->child().id()) > threads_at_start_ + allowed) {
    std::this_thread::sleep_for(kFarewell);
    const std::size_t live = live_threads(process_->child().id());
    if (live > threads_at_start_ + allowed) {
      return end_worker(fmt::format("threads: {} are left after {}, more than the {} allowed", live - threads_at_start_,
                                    result.function, allowed));
    }
  }
  return printed();
}

std::string WorkerRunner::end_worker(std::string why) {
  process_->child().kill();
  if (const WorkerProcess::Printed last = process_->take_printed(); last.bytes > 0) {
    why += fmt::format("; it printed {}", quoted(last));
  }
  end_process();
  return why;
}

}  // namespace backgauge
