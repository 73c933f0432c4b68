// SPDX-License-Identifier: Apache-2.0
// The trial of one hostile implementation (properties/saboteurs/hostile): cases until the judge says what it should.
#pragma once

#include <string>
#include <vector>

#include "properties/saboteurs/hostile/hostile.h"

namespace backgauge::cli {

// Of the plain implementation.
const std::vector<saboteurs::Hostile>& hostile_ones();
const std::vector<saboteurs::Hostile>& twins_of_hostile_ones();

struct HostileOutcome {
  bool detected = false;  // by the verdict and the reason that are expected
  std::string verdict;    // "FAILED: wrote past the end of dicfo (element 84 of 84)", or the last one that came
};
// Of a twin: no verdict is other than PASSED or SKIPPED.
HostileOutcome try_hostile(const saboteurs::Hostile& hostile);

}  // namespace backgauge::cli
