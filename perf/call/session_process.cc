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
#include "properties/judge/worker/consumption.h"
#include "properties/judge/worker/messages.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// The same values as in judge/runner/thread_use.cc.
constexpr std::chrono::milliseconds kUntilQuiet{500}, kBetweenLooks{1};

[[noreturn]] void fail(const std::string& why) { throw ContestantError(why); }

}  // namespace

SessionProcess::SessionProcess(const std::string& implementation, const WorkerProgram& program,
                               std::shared_ptr<Conduct> conduct)
    : process_(program, {kSessionArgument, implementation}), conduct_(std::move(conduct)) {
  on_device_ = parsed<bool>(hear().bytes);
}

// Delegates, so that its conduct is kept if the workload cannot be loaded.
SessionProcess::SessionProcess(const std::string& implementation, const Problem& problem, const LoadOptions& options,
                               const WorkerProgram& program, std::shared_ptr<Conduct> conduct)
    : SessionProcess(implementation, program, std::move(conduct)) {
  shapes_ = {problem.op, problem.dtype, problem.attributes, problem.extents, {}, {}};
  threads_ = options.threads;
  if (options.watched && process_.block() == nullptr) fail("is not confined, and cannot be watched");
  if (options.watched) process_.block()->map(output_block_bytes(problem));
  ask(Kind::kOptions, bytes_of(options));
  loaded_ = parsed<Loaded>(ask(Kind::kLoad, to_wire(Request{problem, {}, {}}).bytes()).bytes);
}

void SessionProcess::turn(std::uint64_t seed) { ask(Kind::kTurn, bytes_of(seed)); }

Timing SessionProcess::time(std::int64_t calls) { return parsed<Timing>(ask(Kind::kTime, bytes_of(calls)).bytes); }

Observation SessionProcess::observe(std::int64_t calls) {
  std::random_device random;
  WatchedSample sample;
  sample.seed = random();
  sample.calls = static_cast<std::uint32_t>(calls);
  sample.chosen = random() % sample.calls;
  sample.shift = random() % (kPage / kLine);
  WorkerState& state = process_.channel().state();
  state.judges_turn = 0;
  state.workers_turn = 0;
  const Consumption before = consumption_of(process_.child().id());
  const auto begin = Clock::now();
  send(Kind::kObserve, bytes_of(sample));
  Observation out;
  std::vector<TwoClocks> clocks = watch(sample, out.computed.outputs);
  // Both before the process hands over what it has computed: that takes longer than a call where outputs are large.
  const double used = consumption_of(process_.child().id()).cpu_seconds - before.cpu_seconds;
  const double whole = std::chrono::duration<double>(Clock::now() - begin).count();
  auto served = parsed<ServedSample>(answer_to(Kind::kObserve).bytes);

  expect_quiet();
  // With the time between its calls, in which work could be done that belongs to them.
  if (const std::string why = too_many_threads({whole, used}, threads_); !why.empty()) {
    throw ContestantError(why, Status::kFailed);
  }
  if (served.seconds.size() != sample.calls || clocks.size() != sample.calls) fail("connection: an incomplete sample");
  const double total = std::accumulate(served.seconds.begin(), served.seconds.end(), 0.0);
  if (!(total > 0)) throw ContestantError("its process took no time at all for its calls", Status::kFailed);
  out.timing = {total, served.cpu_seconds};
  for (std::size_t k = 0; k < clocks.size(); ++k) clocks[k].inside = served.seconds[k];
  out.clocks = clocks_differ(clocks, on_device_);
  if (out.computed.outputs.empty()) out.computed.outputs = std::move(served.computed.outputs);
  out.computed.keep = std::move(served.computed.keep);
  out.computed.masks_unavailable = served.computed.masks_unavailable;
  out.seed = sample.seed + sample.chosen;
  out.last_seed = sample.seed + sample.calls - 1;
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
std::vector<TwoClocks> SessionProcess::watch(const WatchedSample& sample, std::vector<GivenTensor>& taken) {
  WorkerState& state = process_.channel().state();
  Doorbell bell(state.judges_turn, state.workers_turn);
  const TimeInQueues queues(process_.child().id());
  std::vector<TwoClocks> out;
  for (std::uint32_t k = 0; k < sample.calls; ++k) {
    bell.ring(first_turn(k));
    if (!is_answered(bell, first_turn(k))) break;
    const double waited = queues.seconds();
    const auto begin = Clock::now();
    bell.ring(second_turn(k));
    if (!is_answered(bell, second_turn(k))) break;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (k == sample.chosen && !on_device_) taken = outputs_in_block(sample.shift);
    out.push_back({.outside = seconds, .queued = queues.seconds() - waited});
  }
  return out;
}

// Waits for the turn. False if the process sends a message instead, or has ended.
bool SessionProcess::is_answered(const Doorbell& bell, std::uint32_t turn) {
  constexpr std::chrono::milliseconds kLook{10};
  for (const auto deadline = Clock::now() + kLongestAnswer; Clock::now() < deadline;) {
    if (bell.heard(turn, kLook)) return true;
    if (process_.wait(Clock::now()) || process_.child().ending()) return false;
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

Channel::Message SessionProcess::ask(Kind kind, std::span<const std::byte> bytes) {
  send(kind, bytes);
  return answer_to(kind);
}

void SessionProcess::send(Kind kind, std::span<const std::byte> bytes) {
  if (process_.child().ending()) fail(how_it_ended());
  process_.channel().send(static_cast<std::uint32_t>(kind), ++turn_, bytes);
}

Channel::Message SessionProcess::answer_to(Kind kind) {
  const Channel::Message answer = hear();
  // A process that has forked answers twice; the second answer would be taken for that of the next request.
  if (answer.kind != static_cast<std::uint32_t>(kind) || answer.turn != turn_) {
    process_.child().kill();
    fail("connection: its process sent an unexpected answer");
  }
  return answer;
}

Channel::Message SessionProcess::hear() {
  if (!process_.wait(std::chrono::steady_clock::now() + kLongestAnswer) && !process_.child().ending()) {
    process_.child().kill();
    fail(fmt::format("timeout: has not returned within {} s", kLongestAnswer.count()));
  }
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
  const std::optional<Ending>& ending = process_.child().ending();
  if (!ending) return "connection: closed while it was timed";
  return ending_text(*ending, "while it was timed");
}

}  // namespace backgauge
