// SPDX-License-Identifier: Apache-2.0
#include "perf/call/session_process.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "perf/call/output_block.h"
#include "perf/call/placing.h"
#include "perf/meter/clocks.h"
#include "properties/case/files/memory_budget.h"
#include "properties/judge/worker/consumption.h"
#include "properties/judge/worker/messages.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// The same values as in judge/runner/thread_use.cc.
constexpr std::chrono::milliseconds kUntilQuiet{500}, kBetweenLooks{1};

// How long the process may take, besides the timeouts of the calls that it is asked for: it may convert layouts, run a
// forward, and compute for the first time. As for a process that is judged (judge/worker/worker_runner.cc), and so is
// what the process itself holds, as a multiple of the bytes of its inputs.
constexpr double kOwnShare = 10;
constexpr std::uint64_t kOwnMemory = 32;

// How often that is looked at: within a sample that is watched the process also hears of the judge through the socket,
// and between, looking must not take time from what is timed.
constexpr std::chrono::milliseconds kLook{10}, kRareLook{100};

[[noreturn]] void fail(const std::string& why) { throw ContestantError(why); }

}  // namespace

// Ends the process if it takes too long or too much.
class SessionProcess::Watch {
 public:
  Watch(SessionProcess& session, double timeouts)
      : session_(session), seconds_(timeouts * session.limits_.timeout), time_(session.process_.child().id()) {}

  // To be called often.
  void look() {
    if (time_.passed() > seconds_) {
      session_.end(fmt::format("timeout: has not returned within {:.3g} s, with --timeout={:g}s", seconds_.count(),
                               std::chrono::duration<double>(session_.limits_.timeout).count()));
    }
    if (session_.most_bytes_ == 0) return;
    const std::uint64_t held = consumption_of(session_.process_.child().id()).held_bytes;
    if (held <= session_.most_bytes_) return;
    session_.end(fmt::format("memory: its process holds {}, and {} with --memory-limit={}", bytes_text(held),
                             bytes_text(session_.most_bytes_), bytes_text(session_.limits_.memory)));
  }

 private:
  SessionProcess& session_;
  std::chrono::duration<double> seconds_;
  TimeOfItsOwn time_;
};

SessionProcess::SessionProcess(const std::string& implementation, const WorkerProgram& program,
                               std::shared_ptr<Conduct> conduct, const SessionLimits& limits)
    : process_(program, {kSessionArgument, implementation}), conduct_(std::move(conduct)), limits_(limits) {
  on_device_ = parsed<bool>(hear().bytes);
}

// Delegates, so that its conduct is kept if the workload cannot be loaded.
SessionProcess::SessionProcess(const std::string& implementation, const Problem& problem, const LoadOptions& options,
                               const WorkerProgram& program, std::shared_ptr<Conduct> conduct,
                               const SessionLimits& limits)
    : SessionProcess(implementation, program, std::move(conduct), limits) {
  shapes_ = {problem.op, problem.dtype, problem.attributes, problem.extents, {}, {}};
  threads_ = options.threads;
  if (options.watched && process_.block() == nullptr) fail("is not confined, and cannot be watched");
  if (options.watched) process_.block()->map(output_block_bytes(problem));
  ask(Kind::kOptions, bytes_of(options));
  const Writer request = to_wire(Request{problem, {}, {}});
  // The libraries of a device take as much as they like.
  if (limits_.memory != 0 && !on_device_) {
    const std::uint64_t own = kOwnMemory * request.bytes().size() + 2 * static_cast<std::uint64_t>(options.evict_bytes);
    most_bytes_ = consumption_of(process_.child().id()).held_bytes + own + limits_.memory;
  }
  loaded_ = parsed<Loaded>(ask(Kind::kLoad, request.bytes()).bytes);
}

void SessionProcess::turn(std::uint64_t seed) { ask(Kind::kTurn, bytes_of(seed)); }

Timing SessionProcess::time(std::int64_t calls) {
  return parsed<Timing>(ask(Kind::kTime, bytes_of(calls), calls).bytes);
}

Observation SessionProcess::observe(std::int64_t calls) {
  std::random_device random;
  PlannedSample plan;
  plan.shift = random() % (kPage / kLine);
  plan.chosen = random() % static_cast<std::uint32_t>(calls);
  // Seeds that are even and odd in turn: signs.h.
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(calls); ++k) plan.seeds.push_back(2 * random() + k % 2);
  WorkerState& state = process_.channel().state();
  state.judges_turn = 0;
  state.workers_turn = 0;
  const Consumption before = consumption_of(process_.child().id());
  const auto begin = Clock::now();
  send(Kind::kObserve, bytes_of(WatchedSample{plan.shift}));
  Observation out;
  std::vector<TwoClocks> clocks = watch(plan, out.computed.outputs);
  // Both before the process hands over what it has computed: that takes longer than a call where outputs are large.
  const double used = consumption_of(process_.child().id()).cpu_seconds - before.cpu_seconds;
  const double whole = std::chrono::duration<double>(Clock::now() - begin).count();
  auto served = parsed<ServedSample>(answer_to(Kind::kObserve).bytes);

  expect_quiet();
  // With the time between its calls, in which work could be done that belongs to them.
  if (const std::string why = too_many_threads({whole, used}, threads_); !why.empty()) {
    throw ContestantError(why, Status::kFailed);
  }
  if (served.seconds.size() != plan.seeds.size() || clocks.size() != plan.seeds.size())
    fail("connection: an incomplete sample");
  const double total = std::accumulate(served.seconds.begin(), served.seconds.end(), 0.0);
  if (!(total > 0)) throw ContestantError("its process took no time at all for its calls", Status::kFailed);
  for (std::size_t k = 0; k < clocks.size(); ++k) clocks[k].inside = served.seconds[k];
  const Confirmed confirmed = confirmed_time(clocks, on_device_, threads_ == 1);
  out.timing = {confirmed.seconds * static_cast<double>(calls), served.cpu_seconds};
  out.clocks = confirmed.dispute;
  if (out.computed.outputs.empty()) out.computed.outputs = std::move(served.computed.outputs);
  out.computed.keep = std::move(served.computed.keep);
  out.computed.masks_unavailable = served.computed.masks_unavailable;
  out.seed = plan.seeds[plan.chosen];
  out.last_seed = plan.seeds.back();
  return out;
}

// A thread of a pool may spin, and one that is about to sleep may have to wait for a processor.
void SessionProcess::expect_quiet() const {
  int running = 0;
  for (const auto deadline = Clock::now() + kUntilQuiet; Clock::now() < deadline;) {
    running = running_threads(process_.child().id());
    if (running < threads_) return;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  throw ContestantError(
      fmt::format("{} of its threads run between the calls, with num_threads = {}", running, threads_),
      Status::kFailed);
}

// Each call by this process's clock, as far as they were made; and the outputs of the chosen one.
std::vector<TwoClocks> SessionProcess::watch(const PlannedSample& plan, std::vector<GivenTensor>& taken) {
  WorkerState& state = process_.channel().state();
  Doorbell bell(state.judges_turn, state.workers_turn);
  const TimeInQueues queues(process_.child().id());
  const TimeOnProcessors running(process_.child().id(), threads_ == 1);
  std::vector<TwoClocks> out;
  for (std::uint32_t k = 0; k <= plan.seeds.size(); ++k) {
    const bool ends = k == plan.seeds.size();
    put_order({.seed = ends ? 0 : plan.seeds[k], .hands_over_last = k == plan.chosen + 1, .ends = ends}, state);
    bell.ring(first_turn(k));
    if (ends || !is_answered(bell, first_turn(k), kOwnShare)) break;
    const double waited = queues.seconds(), ran = running.seconds_when_it_sleeps();
    const auto begin = Clock::now();
    bell.ring(second_turn(k));
    if (!is_answered(bell, second_turn(k), 1)) break;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (k == plan.chosen && !on_device_) taken = outputs_in_block(plan.shift);
    out.push_back(
        {.outside = seconds, .queued = queues.seconds() - waited, .ran = running.seconds_when_it_sleeps() - ran});
  }
  return out;
}

// Waits for the turn. False if the process sends a message instead, or has ended.
bool SessionProcess::is_answered(const Doorbell& bell, std::uint32_t turn, double timeouts) {
  if (bell.heard(turn, kLook)) return true;
  Watch watch(*this, timeouts);
  while (!process_.wait(Clock::now()) && !process_.child().ending()) {
    if (bell.heard(turn, kLook)) return true;
    watch.look();
  }
  return false;
}

std::vector<GivenTensor> SessionProcess::outputs_in_block(std::size_t shift) const {
  std::vector<GivenTensor> out;
  // Copied first, and decoded from the copy: the process could go on writing.
  const std::span<const std::byte> block = process_.block()->bytes();
  const std::vector<std::byte> copy(block.begin(), block.end());
  for (const OutputPlace& place : output_places(shapes_, shift)) {
    out.push_back({std::string(place.name), place.shape, shapes_.dtype,
                   std::vector<double>(place.bytes / backgauge_dtype_bytes(shapes_.dtype))});
    decode(shapes_.dtype, copy.data() + place.offset, out.back().values);
  }
  return out;
}

Computed SessionProcess::computed(bool again) { return parsed<Computed>(ask(Kind::kComputed, bytes_of(again)).bytes); }

void SessionProcess::pause() {
  if (!process_.child().ending()) process_.child().suspend();
}

void SessionProcess::resume() {
  if (!process_.child().ending()) process_.child().resume();
}

Channel::Message SessionProcess::ask(Kind kind, std::span<const std::byte> bytes, std::int64_t calls) {
  send(kind, bytes);
  return answer_to(kind, calls);
}

void SessionProcess::send(Kind kind, std::span<const std::byte> bytes) {
  if (process_.child().ending()) fail(how_it_ended());
  process_.channel().send(static_cast<std::uint32_t>(kind), ++turn_, bytes);
}

Channel::Message SessionProcess::answer_to(Kind kind, std::int64_t calls) {
  const Channel::Message answer = hear(calls);
  // A process that has forked answers twice; the second answer would be taken for that of the next request.
  if (answer.kind != static_cast<std::uint32_t>(kind) || answer.turn != turn_) {
    end("connection: its process sent an unexpected answer");
  }
  return answer;
}

void SessionProcess::end(const std::string& why) {
  ended_for_ = why;
  process_.child().kill();
  fail(why);
}

Channel::Message SessionProcess::hear(std::int64_t calls) {
  Watch watch(*this, kOwnShare + static_cast<double>(calls));
  while (!process_.wait(Clock::now() + kRareLook) && !process_.child().ending()) watch.look();
  const auto message = process_.channel().receive();
  if (!message) {
    process_.child().ending_soon();
    fail(how_it_ended());
  }
  if (static_cast<Kind>(message->kind) == Kind::kError) {
    const Refusal refusal = parsed<Refusal>(message->bytes);
    const bool failed = refusal.status == static_cast<std::int32_t>(Status::kFailed);
    throw ContestantError(refusal.text, failed ? Status::kFailed : Status::kBroken);
  }
  return *message;
}

std::string SessionProcess::how_it_ended() {
  if (!ended_for_.empty()) return ended_for_;
  const std::optional<Ending>& ending = process_.child().ending();
  if (!ending) return "connection: closed while it was timed";
  return ending_text(*ending, "while it was timed");
}

}  // namespace backgauge
