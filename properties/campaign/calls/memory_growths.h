// SPDX-License-Identifier: Apache-2.0
// Checks that calls do not leak memory: in every tier, each claimed op, and its forward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/judge/runner/runner.h"

namespace backgauge {

struct MemoryGrowths {
  std::int64_t calls = 0;               // number of calls measured
  std::string failure;                  // "... grows by 16.4 kB with each call"; "" if nothing is wrong
  std::vector<std::string> unmeasured;  // what could not be measured, and why
};
MemoryGrowths measure_memory_growths(Runner& runner, const std::vector<backgauge_op>& ops);

}  // namespace backgauge
