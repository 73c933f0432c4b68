// SPDX-License-Identifier: Apache-2.0
// From a failing case to the plainest one that fails in the same way.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "properties/case/case.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

struct ShrinkLimits {
  std::chrono::milliseconds time{60'000};
  int executions = 400;
};

struct Shrunk {
  Case plainest;
  bool flaky = false;  // the given case did not fail again in the same way; then it is its own plainest
  int executions = 0;  // judged runs
  double seconds = 0;
  bool finished = true;  // false: at a limit, and there may be plainer ones
};

// On input a case that failed as `failure` says (failure_of()), a judge, and what else ends the search. The judge is
// called from the calling thread only. Where the given case has no vacuous tensor, the plainest has none. Candidates
// are those of properties/case/simpler.h, the plainest first, each with a few seeds.
Shrunk shrink(const Case& c, const std::string& failure, const std::function<Verdict(const Case&)>& judge,
              const ShrinkLimits& limits, const std::function<bool()>& stop);

}  // namespace backgauge
