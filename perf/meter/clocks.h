// SPDX-License-Identifier: Apache-2.0
// Compares the two clocks of a watched sample: that of the process, which its implementation could have changed, and
// that of the judge, which sees each call begin a little earlier and end a little later.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backgauge {

// The seconds of a call by both clocks, how long in between the two processes have waited for a processor, and how long
// the process has run, as the kernel counts it.
struct TwoClocks {
  double inside = 0, outside = 0, queued = 0, ran = 0;
};

struct ClockDispute {
  std::string text;  // "its process says that a call took 12 us, by the judge's clock it was 1200 us"
  // By how much they differ. Infinite if no delay explains it; 0 if it could not be seen whether they do.
  double seconds = 0;
};

// The mean time of the calls by the clock of the process, or why it cannot be believed. all_threads: `ran` is the time
// of all threads of a process that may use one processor. Of others only the calls count in which neither process had
// to wait for a processor, since nobody can tell what the process did meanwhile.
struct Confirmed {
  double seconds = 0;
  std::optional<ClockDispute> dispute{};
};
Confirmed confirmed_time(const std::vector<TwoClocks>& calls, bool on_device, bool all_threads);

}  // namespace backgauge
