// SPDX-License-Identifier: Apache-2.0
// Judges many implementations on the same cases. The oracle evaluates each case once for all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

struct Judged {
  Status status = Status::kBroken;
  double margin = 0;     // largest error / allowed; inf if the fault is not one of values
  std::string evidence;  // FAILED: tensor and element, or the violated rule
  bool killed() const { return status == Status::kFailed || status == Status::kBroken; }
};

struct GridOptions {
  int workers = 2;                                 // threads of judge_grid() in this process
  int scale = 0;                                   // upstream gradients are multiplied by 2^scale
  std::function<void(std::size_t done)> progress;  // cases done so far, from any thread
};

// judged[case][implementation]; an implementation that does not claim a case is SKIPPED there. Ends early, with fewer
// cases, if the user interrupts. Throws CommandError(kSelfCheck) if the harness itself fails.
using Grid = std::vector<std::vector<Judged>>;

// Judges implementations in this process.
Grid judge_grid(const std::vector<Case>& cases, const std::vector<const backgauge_implementation*>& implementations,
                const GridOptions& options);

// Judges implementations through given runners: runners[job][implementation]. There are as many parallel jobs as rows.
// The cases may be of any kind that `backgauge verify` judges.
Grid judge_grid(const std::vector<Case>& cases, const std::vector<std::vector<Runner*>>& runners,
                const GridOptions& options);

}  // namespace backgauge::cli
