// SPDX-License-Identifier: Apache-2.0
// The implementations that --impl=a,b,c names, ready to be judged and timed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ci/run/implementation/callgrind.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/implementation/terms.h"
#include "perf/run/contestant.h"

namespace backgauge::cli {

struct Contestants {
  std::vector<std::unique_ptr<Candidate>> candidates;  // used to judge
  std::vector<std::unique_ptr<Contestant>> all;        // in the order of the list
  std::vector<std::pair<std::string, Terms>> terms;    // of the candidates, with the names of their contestants
};

// A name that occurs again gets "#2", "#3" appended. An adapter that cannot be loaded becomes an AbsentContestant; for
// anything else this throws CommandError. With `counted`, which must outlive them, implementations are timed under
// callgrind.
Contestants open_contestants(const std::string& list, const IsolationOptions& isolation,
                             const Callgrind* counted = nullptr);

}  // namespace backgauge::cli
