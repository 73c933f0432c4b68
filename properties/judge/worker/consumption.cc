// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/consumption.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "properties/judge/runner/threads.h"

namespace backgauge {
namespace {

// 0 if the process has ended.
double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// A file that is also mapped counts twice: honest processes have few of them.
std::uint64_t bytes_in_memory_files(pid_t process) {
  constexpr std::uint64_t kBlock = 512;  // stat(2)
  std::uint64_t sum = 0;
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone)) {
    struct stat status {};
    if (!std::filesystem::read_symlink(file, gone).string().starts_with("/memfd:")) continue;
    if (stat(file.path().c_str(), &status) == 0) sum += kBlock * static_cast<std::uint64_t>(status.st_blocks);
  }
  return sum;
}

// How many of the threads of a process run, or would if there were a processor for them; not counting `left_out`.
int running_threads_except(pid_t process, const std::string& left_out) {
  int running = 0;
  std::error_code ended;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ended)) {
    if (thread.path().filename() != left_out && thread_state(thread.path()) == 'R') ++running;
  }
  return running;
}

// In seconds.
struct Counted {
  double ran = 0, queued = 0;
};

Counted counted(const Descriptor& schedstat) {
  char text[128];
  const ssize_t count = pread(schedstat.get(), text, sizeof text - 1, 0);
  text[std::max<ssize_t>(count, 0)] = '\0';
  unsigned long long ran = 0, waited = 0;  // in nanoseconds
  if (std::sscanf(text, "%llu %llu", &ran, &waited) != 2) return {};
  return {1e-9 * static_cast<double>(ran), 1e-9 * static_cast<double>(waited)};
}

}  // namespace

Consumption consumption_of(pid_t process) {
  Consumption out;
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t all_pages = 0, resident_pages = 0;
  if (file >> all_pages >> resident_pages) {
    out.held_bytes = resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  out.held_bytes += bytes_in_memory_files(process);
  out.cpu_seconds = cpu_seconds_of(process);
  return out;
}

TimeOfItsOwn::TimeOfItsOwn(pid_t process)
    : process_(process), last_(std::chrono::steady_clock::now()), last_cpu_seconds_(cpu_seconds_of(process)) {}

std::chrono::duration<double> TimeOfItsOwn::passed() {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = now - last_;
  const double cpu_seconds = cpu_seconds_of(process_);
  const std::chrono::duration<double> ran(cpu_seconds - last_cpu_seconds_);
  const bool waited = ran < elapsed && running_threads_except(process_, "") > 0;
  passed_ += waited ? ran : elapsed;
  last_ = now;
  last_cpu_seconds_ = cpu_seconds;
  return passed_;
}

TimeInQueues::TimeInQueues(pid_t process)
    : own_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)),
      other_(open(("/proc/" + std::to_string(process) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC)) {}

double TimeInQueues::seconds() const { return counted(own_).queued + counted(other_).queued; }

TimeOnProcessors::TimeOnProcessors(pid_t process, bool all_threads)
    : process_(process),
      all_threads_(all_threads),
      first_(open(("/proc/" + std::to_string(process) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC)) {}

double TimeOnProcessors::seconds_when_it_sleeps() const {
  constexpr std::chrono::milliseconds kPatience{100};  // on a busy machine, it may have to run once more before
  const std::string number = std::to_string(process_);
  const std::string thread = "/proc/" + number + "/task/" + number;
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       thread_state(thread) == 'R' && std::chrono::steady_clock::now() < end;) {
    std::this_thread::yield();
  }
  return all_threads_ ? cpu_seconds_of(process_) : counted(first_).ran;
}

int running_threads(pid_t process) { return running_threads_except(process, std::to_string(process)); }

}  // namespace backgauge
