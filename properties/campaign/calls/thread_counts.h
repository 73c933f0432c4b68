// SPDX-License-Identifier: Apache-2.0
// Checks that calls respect num_threads: in every tier, each claimed op with one thread and with
// two, and with 3, 16 and 33 where there are more processors.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/runner/runner.h"

namespace backgauge {

struct ThreadCounts {
  int calls = 0;                        // number of calls measured
  double worst = 0;                     // largest number of busy threads / num_threads
  std::string failure;                  // "... keeps 31.8 threads busy with num_threads = 1"; "" if nothing is wrong
  std::vector<std::string> unmeasured;  // what could not be measured, and why
};
ThreadCounts count_threads(Runner& runner, const std::vector<backgauge_op>& ops);

}  // namespace backgauge
