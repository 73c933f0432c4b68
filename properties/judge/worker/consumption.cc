// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/consumption.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

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

// How many of the threads of a process run, or would if there were a processor for them; not counting `left_out`.
int running_threads_except(pid_t process, const std::string& left_out) {
  int running = 0;
  std::error_code ended;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ended)) {
    if (thread.path().filename() != left_out && thread_state(thread.path()) == 'R') ++running;
  }
  return running;
}

}  // namespace

Consumption consumption_of(pid_t process) {
  Consumption out;
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t all_pages = 0, resident_pages = 0;
  if (file >> all_pages >> resident_pages) {
    out.resident_bytes = resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
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

double TimeInQueues::seconds() const {
  double sum = 0;
  for (const Descriptor* file : {&own_, &other_}) {
    char text[128];
    const ssize_t count = pread(file->get(), text, sizeof text - 1, 0);
    text[std::max<ssize_t>(count, 0)] = '\0';
    unsigned long long ran = 0, waited = 0;  // in nanoseconds
    if (std::sscanf(text, "%llu %llu", &ran, &waited) == 2) sum += 1e-9 * static_cast<double>(waited);
  }
  return sum;
}

int running_threads(pid_t process) { return running_threads_except(process, std::to_string(process)); }

}  // namespace backgauge
