// SPDX-License-Identifier: Apache-2.0
#include "perf/call/session_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "perf/call/output_block.h"
#include "perf/call/placing.h"
#include "perf/call/session_wire.h"
#include "perf/call/timed_call.h"
#include "perf/meter/clocks.h"
#include "properties/judge/worker/consumption.h"
#include "properties/judge/worker/messages.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

constexpr const char* kSessionArgument = "--time";

// A batch of calls takes as long as requested, and a call may take seconds, or convert layouts and run a forward
// before.
constexpr std::chrono::seconds kAnswer{900};

using Clock = std::chrono::steady_clock;

// The same values as in judge/runner/thread_use.cc.
constexpr std::chrono::milliseconds kUntilQuiet{500}, kBetweenLooks{1};

[[noreturn]] void fail(const std::string& why) { throw ContestantError(why); }

}  // namespace

enum class SessionProcess::Kind : std::uint32_t {
  kOpened = 1,
  kOptions,
  kLoad,
  kTurn,
  kTime,
  kObserve,
  kComputed,
  kError
};

SessionProcess::SessionProcess(const std::string& implementation, const WorkerProgram& program,
                               std::shared_ptr<Conduct> conduct)
    : process_(program, {kSessionArgument, implementation}), conduct_(std::move(conduct)) {
  on_device_ = parsed<bool>(hear().bytes);
}

Loaded SessionProcess::load(const Problem& problem, const LoadOptions& options) {
  shapes_ = {problem.op, problem.dtype, problem.attributes, problem.extents, {}, {}};
  threads_ = options.threads;
  if (options.watched && process_.block() == nullptr) fail("is not confined, and cannot be watched");
  if (options.watched) process_.block()->map(output_block_bytes(problem));
  ask(Kind::kOptions, bytes_of(options));
  return parsed<Loaded>(ask(Kind::kLoad, to_wire(problem, {}, {}).bytes()).bytes);
}

void SessionProcess::turn(std::uint64_t seed) { ask(Kind::kTurn, bytes_of(seed)); }

Timing SessionProcess::time(std::int64_t calls) { return parsed<Timing>(ask(Kind::kTime, bytes_of(calls)).bytes); }

Observation SessionProcess::observe(std::int64_t calls) {
  std::random_device random;
  LocalSession::Sample sample;
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
  auto served = parsed<LocalSession::Served>(answer_to(Kind::kObserve).bytes);

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
std::vector<TwoClocks> SessionProcess::watch(const LocalSession::Sample& sample, std::vector<GivenTensor>& taken) {
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
  for (const auto deadline = Clock::now() + kAnswer; Clock::now() < deadline;) {
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
  if (!process_.wait(std::chrono::steady_clock::now() + kAnswer) && !process_.child().ending()) {
    process_.child().kill();
    fail(fmt::format("timeout: has not returned within {} s", kAnswer.count()));
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

// In the process that computes: rings when a call is prepared and when it has returned.
class RingingWatcher : public CallWatcher {
 public:
  explicit RingingWatcher(WorkerState& state) : bell_(state.workers_turn, state.judges_turn) {}
  void await_preparing(std::uint32_t call) override { await(first_turn(call)); }
  void await_calling(std::uint32_t call) override {
    bell_.ring(first_turn(call));
    await(second_turn(call));
  }
  void has_returned(std::uint32_t call) override { bell_.ring(second_turn(call)); }

 private:
  // A judge that is gone ends this process.
  void await(std::uint32_t turn) {
    while (!bell_.heard(turn, kAnswer)) {
    }
  }

  Doorbell bell_;
};

// In the process that computes.
class SessionServer {
 public:
  using Kind = SessionProcess::Kind;

  // confined: whether it has a block that it shares with the judge.
  SessionServer(Channel& channel, const backgauge_implementation& implementation, TimedParts* parts, bool confined)
      : channel_(channel), implementation_(implementation), parts_(parts) {
    if (confined) block_ = std::make_unique<SharedBlock>(Descriptor(WorkerProcess::kBlock));
    const bool on_device = implementation.memory_space == BACKGAUGE_CUDA;
    say(Kind::kOpened, 0, bytes_of(on_device));
  }

  // False if there are no more requests.
  bool serve() {
    const std::optional<Channel::Message> message = channel_.receive();
    if (!message) return false;
    try {
      const auto kind = static_cast<Kind>(message->kind);
      return say(kind, message->turn, answer(kind, message->bytes));
    } catch (const ContestantError& error) {
      return refuse(channel_, message->turn, error.what(), error.status);
    } catch (const std::exception& error) {
      return refuse(channel_, message->turn, error.what(), Status::kBroken);
    }
  }

  static bool refuse(Channel& channel, std::uint32_t turn, const std::string& why, Status status) {
    const std::vector<std::byte> bytes = bytes_of(Refusal{static_cast<std::int32_t>(status), why});
    return channel.send(static_cast<std::uint32_t>(Kind::kError), turn, bytes);
  }

 private:
  bool say(Kind kind, std::uint32_t turn, std::span<const std::byte> bytes) {
    return channel_.send(static_cast<std::uint32_t>(kind), turn, bytes);
  }

  std::vector<std::byte> answer(Kind kind, std::span<const std::byte> bytes) {
    switch (kind) {
      case Kind::kOptions: options_ = parsed<LoadOptions>(bytes); return {};
      case Kind::kLoad: {
        const std::optional<Request> request = request_from(bytes);
        if (!request) throw std::runtime_error("a request that cannot be decoded");
        session_.emplace(implementation_, options_.watched ? block_->map() : std::span<std::byte>(), parts_);
        return bytes_of(session_->load(request->problem, options_));
      }
      case Kind::kTurn: session_->turn(parsed<std::uint64_t>(bytes)); return {};
      case Kind::kTime: return bytes_of(session_->time(parsed<std::int64_t>(bytes)));
      case Kind::kObserve: return served(parsed<LocalSession::Sample>(bytes));
      case Kind::kComputed: return bytes_of(session_->computed(parsed<bool>(bytes)));
      default: throw std::runtime_error("a request that cannot be decoded");
    }
  }

  std::vector<std::byte> served(const LocalSession::Sample& sample) {
    RingingWatcher watcher(channel_.state());
    return bytes_of(session_->serve(sample, watcher));
  }

  Channel& channel_;
  const backgauge_implementation& implementation_;
  TimedParts* const parts_;
  std::unique_ptr<SharedBlock> block_;
  std::optional<LocalSession> session_;
  LoadOptions options_;
};

bool is_session(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments.front() == kSessionArgument;
}

void session_main(std::vector<std::string> arguments, const OpenImplementation& open, const FindTimedParts& parts) {
  constexpr int kUsage = 2;
  const std::optional<Confinement> confinement = take_confinement(arguments);
  if (arguments.size() != 2) _exit(kUsage);
  // Before the implementation has threads, and before the process confines itself.
  instruction_counter();
  // While stopped, it could not notice that its parent has ended.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Channel channel = become_worker(confinement);
  std::string error;
  observe_call("backgauge_entry", true);
  const backgauge_implementation* implementation = open(arguments[1], error);
  observe_call("backgauge_entry", false);
  if (implementation == nullptr) {
    SessionServer::refuse(channel, 0, error, Status::kBroken);
    _exit(0);
  }
  SessionServer server(channel, *implementation, parts ? parts() : nullptr, confinement.has_value());
  while (server.serve()) {
  }
  _exit(0);
}

}  // namespace backgauge
