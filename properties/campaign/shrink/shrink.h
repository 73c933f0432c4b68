// SPDX-License-Identifier: Apache-2.0
// From a failing case to the simplest one that fails in the same way.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "properties/case/line/case.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

struct ShrinkLimits {
  std::chrono::milliseconds time{60'000};
  int executions = 400;
};

struct Shrunk {
  Case plainest;
  bool flaky = false;  // the given case did not fail again in the same way, and is returned unchanged
  int executions = 0;  // number of judged runs
  double seconds = 0;
  bool finished = true;  // false: a limit was reached, and there may be simpler cases
};

// On input a case that failed in the way `failure` (failure_of()), a judge, and a function that ends the search early.
// The judge is called only from the calling thread. If the given case has no vacuous tensor, neither has the result.
// Candidates are those of properties/case/line/simpler.h, the simplest first, each with a few seeds.
Shrunk shrink(const Case& c, const std::string& failure, const std::function<Verdict(const Case&)>& judge,
              const ShrinkLimits& limits, const std::function<bool()>& stop);

}  // namespace backgauge
