// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

#include "properties/judge/worker/process_tree.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// The longest time from closing its descriptors to the end of a process, if the kernel writes a core file.
constexpr std::chrono::milliseconds kGrace{2000};

// How often a process without a handle is checked.
constexpr std::chrono::milliseconds kPollWithoutHandle{1};

constexpr int kNotStarted = 127;

// What the new process needs, made before it exists.
struct Plan {
  const ChildProcess::Start& start;
  std::vector<char*> arguments, environment;
  pid_t parent = getpid();
  volatile int error = 0;  // why the program could not be executed
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const ChildProcess::Start& start,
                                            const std::map<std::string, std::string>& variables) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry, name = text.substr(0, text.find('='));
    if (start.inherits && !start.inherits(name)) continue;
    if (!variables.contains(std::string(name))) out.emplace_back(text);
  }
  for (const auto& [name, value] : variables) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

// A handler would run in the memory of the parent.
void forget_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
}

// Above all numbers that descriptors get, so that duplicating one does not overwrite another.
bool place_descriptors(const std::vector<std::pair<int, int>>& descriptors) {
  constexpr int kAbove = 10;
  int raised[ChildProcess::kDescriptors];
  std::size_t count = 0;
  if (descriptors.size() > ChildProcess::kDescriptors) {
    errno = E2BIG;
    return false;
  }
  for (const auto& [ours, number] : descriptors) {
    if ((raised[count++] = fcntl(ours, F_DUPFD_CLOEXEC, kAbove)) < 0) return false;
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (dup2(raised[k], descriptors[k].second) < 0) return false;
  }
  return true;
}

// Besides the standard streams and those that were placed. Without the call, those that are not close-on-exec stay.
void close_others(const std::vector<std::pair<int, int>>& placed) {
  int last = STDERR_FILENO;
  for (const auto& [ours, number] : placed) last = std::max(last, number);
  for (int number = STDERR_FILENO + 1; number < last; ++number) {
    bool keep = false;
    for (const auto& [ours, given] : placed) keep = keep || given == number;
    if (!keep) close(number);
  }
  syscall(SYS_close_range, last + 1, ~0U, 0);
}

// In the new process, which has the parent's memory until it executes the program: nothing here may allocate memory or
// throw. Returns if the program could not be executed; the process then ends with this status.
int become(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  forget_handlers();
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // process_tree.h
  if (plan.start.ends_with_thread) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan.parent) return kNotStarted;
  }
  if (place_descriptors(plan.start.descriptors)) {
    close_others(plan.start.descriptors);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvpe(plan.start.program.c_str(), plan.arguments.data(), plan.environment.data());
  }
  plan.error = errno;
  return kNotStarted;
}

// Starts a process in the way of posix_spawn(), which cannot set the signal that ends_with_thread needs; fork() would
// copy the page tables of a process with gigabytes. The parent's thread waits until the program is executed.
pid_t start_process(Plan& plan) {
  constexpr std::size_t kStack = 1 << 16;  // execvpe() needs some paths on it
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t process =
      with_own_child([&] { return clone(become, stack.get() + kStack, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan); });
  const int error = process < 0 ? errno : plan.error;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return process;
  while (process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  forget_own_child(process);
  throw std::system_error(error, std::generic_category(), plan.start.program + ": cannot be started");
}

}  // namespace

std::string ending_text(const Ending& ending, const std::string& place) {
  if (ending.number < 0) return "exit: the status is unknown because SIGCHLD is ignored; " + place;
  if (!ending.by_signal) return fmt::format("exit: status {} {}", ending.number, place);
  const char* name = sigabbrev_np(ending.number);
  return fmt::format("crash: SIG{} {}", name == nullptr ? "?" : name, place);
}

ChildProcess::ChildProcess(const Start& start) : mark_(new_worker_mark()) {
  std::map<std::string, std::string> variables = start.variables;
  const std::size_t equals = mark_.find('=');
  variables[mark_.substr(0, equals)] = mark_.substr(equals + 1);
  std::vector<std::string> words = start.arguments, settings = merged_environment(start, variables);
  Plan plan{start, pointers(words), pointers(settings)};
  process_ = start_process(plan);
  handle_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
}

ChildProcess::~ChildProcess() { kill(); }

const std::optional<Ending>& ChildProcess::ending() {
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
  if (ending_) {
    forget_own_child(process_);
    end_marked(mark_);
  }
  return ending_;
}

const std::optional<Ending>& ChildProcess::ending_by(Clock::time_point deadline) {
  while (!ending() && Clock::now() < deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ended{handle_.get(), POLLIN, 0};
    const auto patience = handle_.get() < 0 ? std::min(left, kPollWithoutHandle) : left;
    poll(&ended, 1, static_cast<int>(std::min<std::int64_t>(patience.count(), INT_MAX)));
  }
  return ending_;
}

const std::optional<Ending>& ChildProcess::ending_soon() { return ending_by(Clock::now() + kGrace); }

void ChildProcess::kill() {
  if (ending()) return;
  end_marked(mark_);  // it is still the parent of orphans
  // It may have removed the mark, and may have left its group. Until it is reaped, its number cannot be reused.
  ::kill(process_, SIGKILL);
  ::kill(-process_, SIGKILL);
  if (!ending_soon()) end_marked(mark_);
}

void ChildProcess::suspend() const {
  ::kill(-process_, SIGSTOP);
  ::kill(process_, SIGSTOP);  // it may have left its group
  // The status is not consumed until the process continues, so that a second call for a stopped one returns at once.
  siginfo_t seen{};
  while (waitid(P_PID, static_cast<id_t>(process_), &seen, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

void ChildProcess::resume() const {
  ::kill(-process_, SIGCONT);
  ::kill(process_, SIGCONT);
}

}  // namespace backgauge
