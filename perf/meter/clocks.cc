// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/clocks.h"

#include <fmt/format.h>

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

ClockDispute dispute(double here, const char* by, double there, double seconds) {
  return {fmt::format("its process says that a call took {:.3g} us, by the {} it was {:.3g} us", 1e6 * here, by,
                      1e6 * there),
          seconds};
}

}  // namespace

Confirmed confirmed_time(const std::vector<TwoClocks>& calls, bool on_device, bool all_threads) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double turns = kTurns * seconds_of_a_turn(), late = turns + (on_device ? kLaunch : 0);
  std::vector<double> all_inside, ran, inside, outside, apart;
  for (const TwoClocks& call : calls) {
    all_inside.push_back(call.inside);
    ran.push_back(call.ran);
    if ((!all_threads || on_device) && call.queued > kShare * call.outside + turns) continue;
    inside.push_back(call.inside);
    outside.push_back(call.outside);
    apart.push_back(call.outside - call.queued - (1 + kShare) * call.inside);
  }
  // A process that waits for a processor does not run, so that no load explains this. Before and after the call it runs
  // for less than two processes need to hear of each other twice.
  if (!on_device && mean(ran) > (1 + kShare) * mean(all_inside) + 2 * turns) {
    return {0, dispute(mean(all_inside), "processor time that it used", mean(ran), kNever)};
  }
  if (inside.empty()) {
    return {0, ClockDispute{"in each of its calls, its process or the judge waited for a processor", 0}};
  }
  const double here = mean(inside), there = mean(outside);
  if (here > (1 + kShare) * there) return {0, dispute(here, "judge's clock", there, kNever)};
  // Most calls have to agree: one alone may be one in which nothing was done.
  if (median(apart) > late) return {0, dispute(here, "judge's clock", there, median(apart))};
  return {here, std::nullopt};
}

}  // namespace backgauge
