// SPDX-License-Identifier: Apache-2.0
// What a sample of calls has taken.
#pragma once

#include <time.h>

namespace backgauge {

struct Timing {
  double seconds = 0;      // wall-clock time of the calls, or time on the device
  double cpu_seconds = 0;  // of all threads of the process in the same interval
};

// Processor time of all threads of this process so far.
inline double cpu_seconds_of_this_process() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace backgauge
