// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "properties/judge/worker/process_tree.h"

extern char** environ;

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBeginning = 120;  // bytes kept of what is printed: one line

// The socket is closed as soon as a process ends, unless its children hold it open. So the process is checked as often.
constexpr std::chrono::milliseconds kLook{50};

// The longest time from closing the socket to the end of the process, if the kernel writes a core file.
constexpr std::chrono::milliseconds kGrace{2000};

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

// Descriptors above those of the worker, so that duplicating one to its number does not overwrite another.
Descriptor raised(const Descriptor& descriptor) {
  constexpr int kAbove = 10;
  Descriptor copy(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kAbove));
  if (copy.get() < 0) fail(errno, "worker: a descriptor");
  return copy;
}

class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

// A process group of its own: Ctrl-C at a terminal does not reach it, and kill() ends all that the implementation has
// started in it.
void in_a_group_of_its_own(posix_spawnattr_t& attributes) {
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
}

pid_t spawn(const std::vector<std::string>& arguments, const std::string& mark, const Channel::Ends& ends,
            const Descriptor& printed) {
  const Descriptor socket = raised(ends.socket), memory = raised(ends.memory), output = raised(printed);
  SpawnSetup setup;
  posix_spawn_file_actions_addopen(&setup.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&setup.files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&setup.files, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&setup.files, socket.get(), WorkerProcess::kSocket);
  posix_spawn_file_actions_adddup2(&setup.files, memory.get(), WorkerProcess::kMemory);
  in_a_group_of_its_own(setup.attributes);
  std::vector<std::string> words{"backgauge", "worker"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::string entry = mark;
  std::vector<char*> environment{entry.data()};
  const std::string name = mark.substr(0, mark.find('=') + 1);
  for (char** inherited = environ; inherited != nullptr && *inherited != nullptr; ++inherited) {
    if (!std::string_view(*inherited).starts_with(name)) environment.push_back(*inherited);
  }
  environment.push_back(nullptr);
  pid_t process = -1;
  const int error =
      posix_spawn(&process, "/proc/self/exe", &setup.files, &setup.attributes, pointers.data(), environment.data());
  if (error != 0) fail(error, "worker: cannot be started");
  return process;
}

struct Pipe {
  Descriptor read, write;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(errno, "worker: a pipe");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    fcntl(read.get(), F_SETFL, O_NONBLOCK);
  }
};

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& arguments) : WorkerProcess(arguments, Channel::Ends()) {}

WorkerProcess::WorkerProcess(const std::vector<std::string>& arguments, Channel::Ends other)
    : channel_(Channel::open(other)), mark_(new_worker_mark()) {
  Pipe pipe;
  printed_pipe_ = std::move(pipe.read);
  process_ = spawn(arguments, mark_, other, pipe.write);
}

WorkerProcess::~WorkerProcess() { kill(); }

bool WorkerProcess::wait(Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd watched[] = {{channel_.socket(), POLLIN, 0}, {printed_pipe_.get(), POLLIN, 0}};
    const auto patience = std::clamp(left, std::chrono::milliseconds(0), kLook);
    const int count = printed_pipe_.get() < 0 ? 1 : 2;
    if (poll(watched, static_cast<nfds_t>(count), static_cast<int>(patience.count())) < 0 && errno != EINTR)
      return false;
    if (count == 2 && watched[1].revents != 0) drain();
    if (watched[0].revents != 0) return true;
    if (ending() || left.count() <= 0) return false;
  }
}

const std::optional<Ending>& WorkerProcess::ending() {
  if (ending_) return ending_;
  siginfo_t seen{};
  if (waitid(P_PID, static_cast<id_t>(process_), &seen, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD) return ending_;
    ending_ = Ending{false, -1};
  } else if (seen.si_pid == process_) {
    // Ends the group with it. Until the process is reaped, its number and that of its group cannot be reused.
    ::kill(-process_, SIGKILL);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    ending_ = WIFSIGNALED(status) ? Ending{true, WTERMSIG(status)} : Ending{false, WEXITSTATUS(status)};
  }
  if (ending_) end_marked(mark_);
  return ending_;
}

const std::optional<Ending>& WorkerProcess::ending_soon() {
  for (const auto deadline = Clock::now() + kGrace; !ending() && Clock::now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ending_;
}

void WorkerProcess::kill() {
  if (ending()) return;
  // The process may have left its group. Until it is reaped, its number cannot be reused.
  ::kill(process_, SIGKILL);
  ::kill(-process_, SIGKILL);
  if (!ending_soon()) end_marked(mark_);  // a process that the kernel does not end is not waited for
}

void WorkerProcess::drain() {
  char buffer[65536];  // what a pipe holds
  // Limited, so that a process that prints faster than this reads does not delay the timeout.
  constexpr int kMostReads = 16;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(printed_pipe_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) printed_pipe_.close();  // no process has it open for writing any more
    if (got <= 0) return;
    const std::size_t room = kBeginning - printed_.beginning.size();
    printed_.beginning.append(buffer, std::min(static_cast<std::size_t>(got), room));
    printed_.bytes += static_cast<std::uint64_t>(got);
  }
}

WorkerProcess::Printed WorkerProcess::take_printed() {
  if (printed_pipe_.get() >= 0) drain();
  return std::exchange(printed_, {});
}

}  // namespace backgauge
