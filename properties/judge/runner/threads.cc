// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/threads.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace backgauge {

std::size_t live_threads(pid_t process) {
  // A folder has two links plus one for each folder in it, and /proc/PID/task has one folder for each thread.
  struct stat status {};
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  if (stat(folder.c_str(), &status) != 0 || status.st_nlink < 3) return 0;
  return static_cast<std::size_t>(status.st_nlink - 2);
}

char thread_state(const std::string& folder) {
  const std::string stat = kernel_text(folder + "/stat");
  const std::size_t end_of_name = stat.rfind(") ");
  return end_of_name == std::string::npos || end_of_name + 2 >= stat.size() ? '\0' : stat[end_of_name + 2];
}

std::string kernel_text(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  char block[4096];
  for (ssize_t got = 0; (got = read(file, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(got));
  close(file);
  return text;
}

}  // namespace backgauge
