// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "properties/judge/runner/threads.h"
#include "properties/judge/sandbox/descriptor.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kName = "BACKGAUGE_WORKER";

std::atomic<bool> adopts_orphans{false};

// Locked while a child is made, so that no child is seen before it is known.
std::mutex own_children_mutex;
std::set<pid_t> own_children;

bool is_own_child(pid_t process) {
  const std::lock_guard lock(own_children_mutex);
  return own_children.contains(process);
}

// A process may fork while it is being ended, so the search is repeated; each round ends a generation. One that has
// been ended dies when it gets a CPU: on two cores with four other busy processes, some took longer than 300 ms.
constexpr std::chrono::seconds kPatience{2};
constexpr long kNanosecondsBetweenRounds = 1'000'000;

// Until a point in time: each signal that interrupts a relative sleep prolongs it by the slack of timers (50 us), and
// one signal every 50 us or less would prolong it for ever.
void sleep_between_rounds() {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += kNanosecondsBetweenRounds;
  if (end.tv_nsec >= 1'000'000'000) {
    ++end.tv_sec;
    end.tv_nsec -= 1'000'000'000;
  }
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

std::string content_of(pid_t process, const char* file) {
  return kernel_text(fmt::format("/proc/{}/{}", process, file));
}

bool bears(pid_t process, const std::string& mark) {
  const std::string environment = '\0' + content_of(process, "environ");
  return environment.find('\0' + mark + '\0') != std::string::npos;
}

struct Kin {
  pid_t parent = 0;
  bool dead = true;             // a zombie counts as dead
  unsigned long long born = 0;  // in ticks since boot
};

// "PID (NAME) STATE PARENT ...", where NAME may hold anything; field 22 is the beginning.
Kin kin_of(pid_t process) {
  const std::string stat = content_of(process, "stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  Kin kin;
  char state = 'X';
  constexpr const char* kFields = ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
  if (std::sscanf(stat.c_str() + end, kFields, &state, &kin.parent, &kin.born) != 3) return {};
  kin.dead = state == 'Z' || state == 'X';
  return kin;
}

std::map<pid_t, Kin> all_processes() {
  std::map<pid_t, Kin> out;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr != name.data() + name.size()) continue;
    out.emplace(process, kin_of(process));
  }
  closedir(folder);
  return out;
}

bool is_adopted(pid_t process, pid_t parent) { return adopts_orphans && parent == getpid() && !is_own_child(process); }

void reap_adopted(pid_t process) {
  if (adopts_orphans && !is_own_child(process)) waitpid(process, nullptr, WNOHANG);
}

// The processes that are to be ended, and this process if it is the worker itself. Processes that are older than the
// mark cannot have it and are left out: a machine has hundreds of processes, and a run may end thousands of workers.
struct Tree {
  std::set<pid_t> members;
  std::map<pid_t, Kin> living;  // without this process
};

void add_descendants(const std::map<pid_t, Kin>& all, std::set<pid_t>& members) {
  for (bool more = true; more;) {
    more = false;
    for (const auto& [process, kin] : all) {
      if (members.contains(kin.parent)) more = members.insert(process).second || more;
    }
  }
}

Tree tree_of(const std::string& mark) {
  const unsigned long long since = std::strtoull(mark.c_str() + mark.rfind('.') + 1, nullptr, 10);
  const std::map<pid_t, Kin> all = all_processes();
  Tree tree;
  for (const auto& [process, kin] : all) {
    if (kin.born >= since && (is_adopted(process, kin.parent) || bears(process, mark))) tree.members.insert(process);
  }
  add_descendants(all, tree.members);
  for (const pid_t process : tree.members) {
    if (process == getpid()) continue;
    if (all.at(process).dead) {
      reap_adopted(process);
    } else {
      tree.living.emplace(process, all.at(process));
    }
  }
  return tree;
}

// The number of a process may have been reused. So a handle is opened first, and then the process is compared with what
// was seen; its parent may have ended since.
void end_one(pid_t process, const Kin& seen) {
  const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (handle.get() >= 0 && kin_of(process).born == seen.born) {
    syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
  }
}

// The time since boot in ticks, rounded down like the start time of a process in /proc.
unsigned long long ticks_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto per_second = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
  constexpr unsigned long long kNanoseconds = 1'000'000'000;
  return static_cast<unsigned long long>(now.tv_sec) * per_second +
         static_cast<unsigned long long>(now.tv_nsec) * per_second / kNanoseconds;
}

}  // namespace

std::string new_worker_mark() {
  static std::atomic<unsigned> number{0};
  return fmt::format("{}={}.{}.{}", kName, getpid(), ++number, ticks_since_boot());
}

std::string own_worker_mark() {
  const char* value = std::getenv(kName.data());
  return value == nullptr ? "" : fmt::format("{}={}", kName, value);
}

pid_t with_own_child(const std::function<pid_t()>& start) {
  const std::lock_guard lock(own_children_mutex);
  const pid_t process = start();
  if (process > 0) own_children.insert(process);
  return process;
}

void forget_own_child(pid_t process) {
  const std::lock_guard lock(own_children_mutex);
  own_children.erase(process);
}

void adopt_orphans() { adopts_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void end_marked(const std::string& mark) {
  if (mark.empty()) return;
  std::map<pid_t, Kin> ended;  // may live for a while, and an orphan is not found any more once its parents are dead
  for (const auto deadline = Clock::now() + kPatience; Clock::now() < deadline; sleep_between_rounds()) {
    std::map<pid_t, Kin> living = tree_of(mark).living;
    for (const auto& [process, kin] : ended) {
      const Kin now = kin_of(process);
      if (!now.dead && now.born == kin.born) living.emplace(process, kin);
    }
    if (living.empty()) return;
    for (const auto& [process, kin] : living) end_one(process, kin);
    ended.merge(living);
  }
}

void end_descendants(std::chrono::milliseconds patience) {
  for (const auto deadline = Clock::now() + patience;; sleep_between_rounds()) {
    const std::map<pid_t, Kin> all = all_processes();
    std::set<pid_t> members{getpid()};
    add_descendants(all, members);
    members.erase(getpid());
    std::erase_if(members, [&](pid_t process) { return all.at(process).dead; });
    for (const pid_t process : members) end_one(process, all.at(process));
    if (members.empty() || Clock::now() >= deadline) return;
  }
}

}  // namespace backgauge
