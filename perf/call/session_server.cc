// SPDX-License-Identifier: Apache-2.0
#include "perf/call/session_server.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <optional>
#include <span>

#include "perf/call/session_wire.h"
#include "perf/call/timed_call.h"
#include "perf/meter/doorbell.h"
#include "properties/judge/worker/messages.h"
#include "properties/judge/worker/shared_block.h"
#include "properties/judge/worker/worker_process.h"

namespace backgauge {
namespace {

// Rings when a call is prepared and when it has returned.
class RingingWatcher : public CallWatcher {
 public:
  explicit RingingWatcher(WorkerState& state) : state_(state), bell_(state.workers_turn, state.judges_turn) {}
  Order await_order(std::uint32_t call) override {
    await(first_turn(call));
    return order_in(state_);
  }
  void await_calling(std::uint32_t call) override {
    bell_.ring(first_turn(call));
    await(second_turn(call));
  }
  void has_returned(std::uint32_t call) override { bell_.ring(second_turn(call)); }

 private:
  static constexpr std::chrono::seconds kLook{60};

  // A judge that is gone ends this process.
  void await(std::uint32_t turn) {
    while (!bell_.heard(turn, kLook)) {
    }
  }

  const WorkerState& state_;
  Doorbell bell_;
};

struct Server {
  Channel& channel;
  const backgauge_implementation& implementation;
  TimedParts* const parts;
  std::unique_ptr<SharedBlock> block{};  // that a confined process shares with the judge
  LoadOptions options{};
  std::optional<TimedCall> call{};
};

bool say(Channel& channel, SessionMessage kind, std::uint32_t turn, std::span<const std::byte> bytes) {
  return channel.send(static_cast<std::uint32_t>(kind), turn, bytes);
}

bool refuse(Channel& channel, std::uint32_t turn, const std::string& why, Status status) {
  return say(channel, SessionMessage::kError, turn, bytes_of(Refusal{static_cast<std::int32_t>(status), why}));
}

std::vector<std::byte> answer(Server& server, SessionMessage kind, std::span<const std::byte> bytes) {
  switch (kind) {
    case SessionMessage::kOptions: server.options = parsed<LoadOptions>(bytes); return {};
    case SessionMessage::kLoad: {
      const std::optional<Request> request = from_wire<Request>(bytes);
      if (!request) break;
      server.call.emplace(server.implementation, request->problem, server.options,
                          server.options.watched ? server.block->map() : std::span<std::byte>(), server.parts);
      return bytes_of(server.call->loaded());
    }
    case SessionMessage::kTurn: server.call->turn(parsed<std::uint64_t>(bytes)); return {};
    case SessionMessage::kTime: return bytes_of(server.call->time(parsed<std::int64_t>(bytes)));
    case SessionMessage::kObserve: {
      RingingWatcher watcher(server.channel.state());
      return bytes_of(server.call->serve(parsed<WatchedSample>(bytes), watcher));
    }
    case SessionMessage::kComputed: return bytes_of(server.call->computed(parsed<bool>(bytes)));
    default: break;
  }
  throw std::runtime_error("a request that cannot be decoded");
}

// An error of the implementation or of an allocation ends its part in the workload. False if nobody listens any more.
bool serve(Server& server, const Channel::Message& request) {
  const auto kind = static_cast<SessionMessage>(request.kind);
  try {
    return say(server.channel, kind, request.turn, answer(server, kind, request.bytes));
  } catch (const ContestantError& error) {
    return refuse(server.channel, request.turn, error.what(), error.status);
  } catch (const std::bad_alloc&) {
    return refuse(server.channel, request.turn, "needs more memory than is available", Status::kBroken);
  } catch (const std::exception& error) {
    return refuse(server.channel, request.turn, error.what(), Status::kBroken);
  }
}

}  // namespace

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
  observe_call("loading", true);
  const backgauge_implementation* implementation = open(arguments[1], error);
  observe_call("loading", false);
  if (implementation == nullptr) {
    refuse(channel, 0, error, Status::kBroken);
    _exit(0);
  }
  Server server{channel, *implementation, parts ? parts() : nullptr};
  if (confinement) server.block = std::make_unique<SharedBlock>(Descriptor(WorkerProcess::kBlock));
  const bool on_device = implementation->memory_space == BACKGAUGE_CUDA;
  say(channel, SessionMessage::kOpened, 0, bytes_of(on_device));
  while (const std::optional<Channel::Message> request = channel.receive()) {
    if (!serve(server, *request)) break;
  }
  _exit(0);
}

}  // namespace backgauge
