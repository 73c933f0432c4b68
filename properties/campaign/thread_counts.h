// SPDX-License-Identifier: Apache-2.0
// Whether calls keep to num_threads: in every tier, each claimed op with one thread and with two.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/runner/runner.h"

namespace backgauge {

struct ThreadCounts {
  int calls = 0;                        // that were measured
  double worst = 0;                     // most busy threads for each that a call was given
  std::string failure;                  // "... keeps 31.8 threads busy with num_threads = 1"; "" if nothing is wrong
  std::vector<std::string> unmeasured;  // what could not be measured, and why
};
ThreadCounts count_threads(Runner& runner, const std::vector<backgauge_op>& ops);

}  // namespace backgauge
