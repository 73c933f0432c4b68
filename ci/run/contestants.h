// SPDX-License-Identifier: Apache-2.0
// The implementations and peers that --impl=a,b,c names, ready to be judged and timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ci/run/candidate.h"
#include "perf/contestant.h"

namespace backgauge::cli {

struct Contestants {
  std::vector<std::unique_ptr<Candidate>> candidates;  // whom the others judge through
  std::vector<std::unique_ptr<Contestant>> all;        // in the order of the list
};

// Names that occur twice get "#2", "#3" behind them. A peer that cannot be had is there as an AbsentContestant; other
// names that are nothing throw CommandError.
Contestants open_contestants(const std::string& list, int threads, const IsolationOptions& isolation);

}  // namespace backgauge::cli
