// SPDX-License-Identifier: Apache-2.0
// Compares the two clocks of a watched sample: that of the process, which its implementation could have changed, and
// that of the judge, which sees each call begin a little earlier and end a little later.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backgauge {

// The seconds of a call by both clocks, and how long in between the two processes have waited for a processor.
struct TwoClocks {
  double inside = 0, outside = 0, queued = 0;
};

struct ClockDispute {
  std::string text;  // "its process says that a call took 12 us, by the judge's clock it was 1200 us"
  // By how much they differ in the call in which they agree best. Infinite if the process says that calls took longer
  // than the judge saw: no delay explains that.
  double seconds = 0;
};

// Set if the clocks differ by more than two processes need to hear of each other.
std::optional<ClockDispute> clocks_differ(const std::vector<TwoClocks>& calls, bool on_device);

}  // namespace backgauge
