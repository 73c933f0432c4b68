// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/threads.h"

#include <sys/stat.h>

#include <string>

namespace backgauge {
namespace {

// A folder has two links plus one for each folder in it, and /proc/PID/task has one folder for each thread.
std::size_t folders_in(const char* path) {
  struct stat status {};
  if (stat(path, &status) != 0 || status.st_nlink < 3) return 0;
  return static_cast<std::size_t>(status.st_nlink - 2);
}

}  // namespace

std::size_t live_threads() { return folders_in("/proc/self/task"); }

std::size_t live_threads(pid_t process) { return folders_in(("/proc/" + std::to_string(process) + "/task").c_str()); }

}  // namespace backgauge
