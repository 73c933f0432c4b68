// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/worker_runner.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>

#include "properties/judge/threads.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

std::string quoted(const WorkerProcess::Printed& printed) {
  std::string text;
  for (const char c : printed.beginning) {
    if (c == '\n') {
      text += "\\n";
    } else {
      text += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
    }
  }
  return fmt::format("\"{}{}\"", text, printed.bytes > printed.beginning.size() ? "..." : "");
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30));
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

// Threads of a worker beside those of the implementation: the one that calls it, and the one that waits for the judge.
constexpr std::size_t kOwnThreads = 2;

// Threads that have been joined may be counted a moment longer.
constexpr std::chrono::milliseconds kFarewell{50};

// What an implementation may keep: a pool as large as it was ever told, or as large as the machine, for itself and for
// one library below it.
std::size_t threads_allowed(std::int32_t most_threads) {
  const auto processors = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  return kOwnThreads + 2 * std::max(processors, static_cast<std::size_t>(std::max(1, most_threads)));
}

}  // namespace

WorkerRunner::WorkerRunner(WorkerOptions options) : options_(std::move(options)) { start(); }

void WorkerRunner::start() {
  const auto fail = [&](const std::string& why) {
    process_.reset();
    throw LoadError(options_.implementation + ": " + why);
  };
  process_ = std::make_unique<WorkerProcess>(
      std::vector<std::string>{options_.implementation, std::to_string(options_.memory_limit)});
  const Answer answer = hear();
  if (!answer.message) fail(answer.broken);
  const auto kind = static_cast<MessageKind>(answer.message->kind);
  if (kind == MessageKind::kNotLoaded) {
    const auto texts = texts_from(answer.message->bytes);
    process_.reset();
    throw LoadError(texts && texts->size() == 1 ? texts->front() : options_.implementation + ": not loaded");
  }
  std::optional<Introduction> introduction;
  if (kind == MessageKind::kLoaded) introduction = introduction_from(answer.message->bytes);
  if (!introduction) fail("its process says what makes no sense");
  // What it prints here is not of a call.
  process_->take_printed();
  calls_ = 0;
  if (table_.abi != 0) return;  // what it has claimed at first is what is judged
  introduction_ = std::move(*introduction);
  table_ = table_of(introduction_);
}

RunResult WorkerRunner::run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) {
  most_threads_ = std::max(most_threads_, options.num_threads);
  const Answer answer = ask(MessageKind::kRun, to_wire(problem, raw, options).bytes());
  std::optional<RunResult> result;
  if (answer.message) result = run_result_from(answer.message->bytes, problem);
  if (!result) {
    result.emplace();
    result->broken = answer.message ? give_up(nonsense()) : answer.broken;
    return *result;
  }
  result->broken = misbehaviour(*result);
  return *result;
}

DropoutMasks WorkerRunner::dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                                         const RunOptions& options) {
  const Answer answer = ask(MessageKind::kDropoutMasks, to_wire(problem, raw, options).bytes());
  std::optional<DropoutMasks> masks;
  if (answer.message) masks = dropout_masks_from(answer.message->bytes, problem);
  if (!masks) {
    masks.emplace();
    masks->result.broken = answer.message ? give_up(nonsense()) : answer.broken;
    return *masks;
  }
  masks->result.broken = misbehaviour(masks->result);
  return *masks;
}

RunResult WorkerRunner::refuse(const Malformed& which) {
  const Answer answer = ask(MessageKind::kRefuse, to_wire(which).bytes());
  std::optional<RunResult> result;
  if (answer.message) result = refusal_from(answer.message->bytes);
  if (!result) {
    result.emplace();
    result->broken = answer.message ? give_up(nonsense()) : answer.broken;
    return *result;
  }
  result->broken = misbehaviour(*result);
  return *result;
}

Runner::CaseEnd WorkerRunner::end_case() {
  CaseEnd end;
  if (case_began_ && process_ != nullptr) {
    const Answer answer = ask(MessageKind::kEndCase, {});
    std::optional<std::vector<std::string>> texts;
    if (answer.message) texts = texts_from(answer.message->bytes);
    if (texts) {
      end.violations = std::move(*texts);
      end.broken = printed();
    } else {
      end.broken = answer.message ? give_up(nonsense()) : answer.broken;
    }
  }
  case_began_ = false;
  return end;
}

WorkerRunner::Answer WorkerRunner::ask(MessageKind kind, std::span<const std::byte> bytes) {
  // What earlier calls have left behind must not take the memory of this one.
  for (const bool again : {true, false}) {
    if (process_ == nullptr) {
      try {
        start();
      } catch (const LoadError& error) {
        return {{}, std::string("load: ") + error.what()};
      }
    } else if (process_->ending()) {
      return {{}, give_up(why_no_answer() + (case_began_ ? "" : ", of an earlier case"))};
    }
    const bool fresh = calls_++ == 0;
    case_began_ = true;
    process_->channel().state().inside = 0;
    process_->channel().send(static_cast<std::uint32_t>(kind), bytes);
    const Answer answer = hear();
    if (!answer.message) return answer;
    const auto said = static_cast<MessageKind>(answer.message->kind);
    if (said == kind) return answer;
    if (said == MessageKind::kTrouble) {
      const auto texts = texts_from(answer.message->bytes);
      throw std::runtime_error(texts && texts->size() == 1 ? texts->front() : "worker: trouble");
    }
    if (said != MessageKind::kNoMemory) return {{}, give_up(nonsense())};
    process_.reset();
    if (fresh || !again) break;
  }
  throw std::bad_alloc();
}

WorkerRunner::Answer WorkerRunner::hear() {
  std::optional<Channel::Message> message;
  if (process_->wait(Clock::now() + options_.timeout)) {
    message = process_->channel().receive();
    if (!message) process_->ending_soon();
  } else if (!process_->ending()) {
    const WorkerState& state = process_->channel().state();
    const double seconds = std::chrono::duration<double>(options_.timeout).count();
    return {{}, give_up(fmt::format("timeout: {} has not returned within {:g} s", function_word(state), seconds))};
  }
  if (!message) return {{}, give_up(why_no_answer())};
  return {message, ""};
}

std::string WorkerRunner::why_no_answer() {
  const WorkerState& state = process_->channel().state();
  const std::string place = fmt::format("{} {}", state.inside != 0 ? "in" : "after", function_word(state));
  const std::optional<Ending>& ending = process_->ending();
  if (!ending) return "connection: closed " + place;
  if (!ending->by_signal) return fmt::format("exit: status {} {}", ending->number, place);
  const char* name = sigabbrev_np(ending->number);
  return fmt::format("crash: SIG{} {}{}", name == nullptr ? "?" : name, place, fault_text(state));
}

std::string WorkerRunner::nonsense() const {
  return std::string("memory: the process answered what makes no sense, after ") +
         function_word(process_->channel().state());
}

std::string WorkerRunner::printed() {
  const WorkerProcess::Printed printed = process_->take_printed();
  if (printed.bytes == 0) return "";
  return fmt::format("output: {} bytes on stdout or stderr, {}", printed.bytes, quoted(printed));
}

std::string WorkerRunner::misbehaviour(const RunResult& result) {
  if (result.status == BACKGAUGE_OUT_OF_MEMORY && options_.memory_limit != 0) {
    return give_up(fmt::format("memory: {} answered out_of_memory under a limit of {}: {}", result.function,
                               gibibytes(options_.memory_limit), result.message));
  }
  const std::size_t allowed = threads_allowed(most_threads_);
  if (live_threads(process_->id()) > allowed) {
    std::this_thread::sleep_for(kFarewell);
    const std::size_t live = live_threads(process_->id());
    if (live > allowed) {
      return give_up(fmt::format("threads: {} are left after {}, at most {} may be", live - kOwnThreads,
                                 result.function, allowed - kOwnThreads));
    }
  }
  return printed();
}

std::string WorkerRunner::give_up(std::string why) {
  process_->kill();
  if (const WorkerProcess::Printed last = process_->take_printed(); last.bytes > 0) {
    why += fmt::format("; it printed {}", quoted(last));
  }
  process_.reset();
  return why;
}

}  // namespace backgauge
