// SPDX-License-Identifier: Apache-2.0
// The signal handler only writes to shared memory.
#include "properties/judge/worker/worker_main.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

#include "properties/device/runtime.h"
#include "properties/judge/worker/allowance.h"
#include "properties/judge/worker/messages.h"
#include "properties/judge/worker/process_tree.h"
#include "properties/judge/worker/worker_process.h"
#include "reference/contract/sanitized.h"

namespace backgauge {
namespace {

WorkerState* shared_state = nullptr;

std::uint64_t stack_pointer([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

void on_crash(int signal_number, siginfo_t* info, void* context) {
  constexpr std::uint64_t kFrame = 1 << 16;  // a fault this near to the stack pointer is a stack overflow
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const std::uint64_t stack = stack_pointer(context);
  shared_state->fault_address = address;
  shared_state->fault = info->si_code <= 0 ? 0 : std::max(address, stack) - std::min(address, stack) < kFrame ? 2 : 1;
  // On return the instruction faults again, now with the default action; a signal that was only sent is sent again.
  signal(signal_number, SIG_DFL);
  if (info->si_code <= 0) raise(signal_number);
}

void watch_for_crashes() {
  static std::byte alternate_stack[1 << 16];  // the handler cannot run on a stack that has overflowed
  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = sizeof alternate_stack;
  sigaltstack(&stack, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction action {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

// Only the judge decides when this process ends, so signals meant to stop the judge are ignored here.
void ignore_the_user() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
}

// The judge is gone: ends the process even if the implementation never returns.
void end_with_the_judge() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread([mark = own_worker_mark()] {
    pollfd socket{WorkerProcess::kSocket, 0, 0};
    while (poll(&socket, 1, -1) <= 0) {
    }
    end_marked(mark);
    _exit(0);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// With a limit of one byte no core is written, not even to a program. Hundreds of crashes must not fill the disk.
void limit_cores() {
  const rlimit core{1, 1};
  setrlimit(RLIMIT_CORE, &core);
}

bool say(Channel& channel, MessageKind kind, std::uint32_t turn, const Writer& writer) {
  try {
    return channel.send(static_cast<std::uint32_t>(kind), turn, writer.bytes());
  } catch (const std::bad_alloc&) {
    return channel.send(static_cast<std::uint32_t>(MessageKind::kNoMemory), turn, {});
  }
}

class Server {
 public:
  Server(Channel& channel, const backgauge_implementation& implementation, std::uint64_t memory_limit)
      : channel_(channel),
        // No limit for CUDA, which reserves as much as all memory of the machine and its devices, or under sanitizers.
        allowance_(implementation.memory_space == BACKGAUGE_CUDA || kSanitized ? 0 : memory_limit),
        runner_(
            implementation,
            [this](const char* function, bool inside) {
              if (inside) allowance_.enter();
              observe_call(function, inside);
              if (!inside) allowance_.leave();
            },
            memory_limit) {}

  // False if the judge is gone.
  bool serve() {
    const std::optional<Channel::Message> message = channel_.receive();
    if (!message) return false;
    const auto kind = static_cast<MessageKind>(message->kind);
    Writer answer;
    try {
      answer = answer_to(kind, message->bytes);
    } catch (const std::bad_alloc&) {
      return say(channel_, MessageKind::kNoMemory, message->turn, {});
    } catch (const std::exception& error) {
      return say(channel_, MessageKind::kError, message->turn, to_wire(std::vector<std::string>{error.what()}));
    }
    // After this, everything that was printed has been written.
    std::fflush(nullptr);
    return say(channel_, kind, message->turn, answer);
  }

 private:
  template <class T>
  static T decoded(std::span<const std::byte> bytes) {
    std::optional<T> request = from_wire<T>(bytes);
    if (!request) throw std::runtime_error("worker: a request that cannot be decoded");
    return *std::move(request);
  }

  Writer answer_to(MessageKind kind, std::span<const std::byte> bytes) {
    if (kind == MessageKind::kEndCase) return to_wire(runner_.end_case());
    if (kind == MessageKind::kTogether) return to_wire(runner_.run_together(decoded<std::vector<TogetherCall>>(bytes)));
    if (kind == MessageKind::kRefuse) return to_wire(runner_.refuse(decoded<Malformed>(bytes)));
    const auto [problem, raw, options] = decoded<Request>(bytes);
    if (kind == MessageKind::kThreadUse) return to_wire(runner_.thread_use(problem, raw, options));
    if (kind == MessageKind::kMemoryGrowth) return to_wire(runner_.memory_growth(problem, raw, options));
    if (kind == MessageKind::kDropoutMasks) {
      DropoutMasks masks = runner_.dropout_masks(problem, raw, options);
      masks.result.outputs.clear();
      return to_wire(masks);
    }
    return to_wire(runner_.run(problem, raw, options));
  }

  Channel& channel_;
  Allowance allowance_;
  InProcessRunner runner_;
};

}  // namespace

Channel become_worker(const std::optional<Confinement>& confinement) {
  Channel channel{Descriptor(WorkerProcess::kSocket), Descriptor(WorkerProcess::kMemory)};
  shared_state = &channel.state();
  ignore_the_user();
  watch_for_crashes();
  limit_cores();
  if (confinement) confine_this_process(*confinement, WorkerProcess::kSocket);
  end_with_the_judge();
  return channel;
}

void observe_call(const char* function, bool inside) {
  const auto known = std::ranges::find(WorkerState::kFunctions, std::string_view(function));
  shared_state->function = static_cast<std::uint32_t>(known - std::begin(WorkerState::kFunctions));
  shared_state->inside = inside ? 1 : 0;
  ++shared_state->turns;
}

void worker_main(std::vector<std::string> arguments, const OpenImplementation& open) {
  const std::optional<Confinement> confinement = take_confinement(arguments);
  if (arguments.size() != 2) _exit(2);
  Channel channel = become_worker(confinement);
  std::string error;
  observe_call("loading", true);
  const backgauge_implementation* implementation = open(arguments[0], error);
  observe_call("loading", false);
  if (implementation == nullptr) {
    say(channel, MessageKind::kNotLoaded, 0, to_wire(std::vector<std::string>{error}));
    _exit(0);
  }
  say(channel, MessageKind::kLoaded, 0, to_wire(introduction(*implementation)));
  Server server(channel, *implementation, std::strtoull(arguments[1].c_str(), nullptr, 10));
  while (server.serve()) {
    if (device::is_lost()) break;  // every further call would fail; a new process can use the device again
  }
  _exit(0);  // without running exit handlers of the implementation
}

}  // namespace backgauge
