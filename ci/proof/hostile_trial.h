// SPDX-License-Identifier: Apache-2.0
// Judges one hostile implementation (properties/saboteurs/hostile) on cases until the judge gives the expected verdict.
#pragma once

#include <string>
#include <vector>

#include "properties/saboteurs/hostile/hostile.h"

namespace backgauge::cli {

// The hostile implementations made from the plain one.
const std::vector<saboteurs::Hostile>& hostile_ones();
const std::vector<saboteurs::Hostile>& twins_of_hostile_ones();

struct HostileOutcome {
  bool detected = false;  // with the expected verdict and reason
  std::string verdict;    // "FAILED: wrote past the end of dicfo (element 84 of 84)", or the last verdict
};
// For a twin, `detected` means that all verdicts are PASSED or SKIPPED.
HostileOutcome try_hostile(const saboteurs::Hostile& hostile);

}  // namespace backgauge::cli
