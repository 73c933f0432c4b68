// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/threads.h"

#include <sys/stat.h>

namespace backgauge {

// A folder has two links and one for each folder in it, and the kernel keeps one for each thread.
std::size_t live_threads() {
  struct stat status {};
  if (stat("/proc/self/task", &status) != 0 || status.st_nlink < 3) return 0;
  return static_cast<std::size_t>(status.st_nlink - 2);
}

}  // namespace backgauge
