// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "perf/meter/doorbell.h"
#include "perf/meter/statistics.h"

namespace backgauge {
namespace {

// Both clocks are the machine's; what a call is slowed down while the judge is woken is counted by both.
constexpr double kShare = 0.05;

// A process is woken later than a thread that does nothing else, but hardly twice as late in every call.
constexpr double kTurns = 2;

// A device begins some time after the call was put on its stream, and the host hears of its end later still.
constexpr double kLaunch = 50e-6;

}  // namespace

std::optional<ClockDispute> clocks_differ(const std::vector<TwoClocks>& calls, bool on_device) {
  std::vector<double> inside, outside, at_work;
  for (const TwoClocks& call : calls) {
    inside.push_back(call.inside);
    outside.push_back(call.outside);
    at_work.push_back(std::max(call.outside - call.queued, 0.0));
  }
  // The mean is what counts as the time of a call. Every call was longer than that by the judge's clock only if the
  // process hides time. On a busy machine most calls are, but not all.
  const double here = mean(inside), there = at_work.empty() ? 0 : std::ranges::min(at_work);
  const double late = kTurns * seconds_of_a_turn() + (on_device ? kLaunch : 0);
  const bool hides = there > (1 + kShare) * here + late, early = here > (1 + kShare) * mean(outside);
  if (!hides && !early) return std::nullopt;
  return ClockDispute{fmt::format("its process says that a call took {:.3g} us, by the judge's clock it was {:.3g} us",
                                  1e6 * here, 1e6 * (hides ? there : mean(outside))),
                      early ? std::numeric_limits<double>::infinity() : there - here};
}

}  // namespace backgauge
