// SPDX-License-Identifier: Apache-2.0
// From a failing case to the plainest one that fails in the same way.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "properties/case/case.h"
#include "properties/judge/verdict.h"

namespace backgauge {

// What makes two failures the same: the first bad tensor and the class of its fault ("w_grad value", "dicfo unwritten",
// "h_grad non-finite"), or what was seen besides values, without its numbers ("wrote past the end of dicfo", "not
// repeatable: x_grad"). "" where the implementation did not fail.
std::string failure_of(const Verdict& verdict);

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

// On input a case that failed as `failure` says, a judge, and what else ends the search. The judge is called from the
// calling thread only. Where the given case has no vacuous tensor, the plainest has none. Candidates are those of
// properties/case/simpler.h, the plainest first, each with a few seeds.
Shrunk shrink(const Case& c, const std::string& failure, const std::function<Verdict(const Case&)>& judge,
              const ShrinkLimits& limits, const std::function<bool()>& stop);

}  // namespace backgauge
