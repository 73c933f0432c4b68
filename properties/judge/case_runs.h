// SPDX-License-Identifier: Apache-2.0
// The calls by which one case is judged. All are made before anything is compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {

struct CaseRuns {
  // Set if the forward or its masks fail, or if masks are needed and not available: nothing is compared then, and the
  // calls after it are not made.
  std::optional<Verdict> verdict;
  RunResult forward;  // if the op has one
  // If it left NaN: once more, where outputs held finite numbers before.
  std::optional<RunResult> forward_again;
  bool masks_available = true;     // or no masks are drawn
  std::optional<Verdict> failure;  // of the first gradient: the other two are not run
  RunResult first, second;
  std::optional<RunResult> shared;  // with outputs in the memory of inputs, if the op allows that
  // If `shared` differs from `first`: both calls once more, in this order, which shows whether memory made the
  // difference, or no two calls are alike.
  std::vector<RunResult> again;
  std::string sharing;  // how `shared` differs, in words
  RunOptions options;   // of the forward and the first gradient
};

// On input a legal, claimed case. `seed`: of placements, and of how the runs differ.
CaseRuns make_runs(CaseSession& session, std::uint64_t seed, std::int32_t num_threads);

}  // namespace backgauge
