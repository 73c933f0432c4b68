// SPDX-License-Identifier: Apache-2.0
// All cases of a run, in the order in which they are judged and reported, whichever machine judges them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

struct RunPlan {
  std::vector<Case> cases;
  Planned planned;  // index 0

  Planned at(std::size_t index) const;
};

// The regressions, the golden vectors, the cases of a tier and malformed calls. Throws CommandError for an unknown tier
// or op, or if goldens or regressions cannot be read.
RunPlan plan_of_tier(const std::string& tier, std::uint64_t seed, const std::string& ops);

// The given case lines. Throws CommandError if one is malformed.
RunPlan plan_of_lines(const std::vector<std::string>& lines);

}  // namespace backgauge::cli
