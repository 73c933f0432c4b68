// SPDX-License-Identifier: Apache-2.0
// What the results of a proof add up to.
#include <algorithm>

#include "ci/proof/proof.h"

namespace backgauge::cli {

std::size_t Proof::survivors() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(saboteurs, [](const SaboteurResult& result) { return result.killed_by.empty(); }));
}

std::size_t Proof::false_alarms() const {
  std::size_t count = law_false_alarms.size();
  for (const CorrectResult& each : correct) count += each.false_alarms.size();
  return count;
}

bool Proof::holds() const {
  const bool scale_free = std::ranges::all_of(scales, [](const ScaleResult& each) { return each.changed.empty(); });
  const bool all_detected = std::ranges::all_of(hostile, [](const HostileResult& each) { return each.detected; });
  return survivors() == 0 && false_alarms() == 0 && scale_free && all_detected;
}

}  // namespace backgauge::cli
