// SPDX-License-Identifier: Apache-2.0
// Calls at the same time, in every tier: a few sets of cases, each called by as many threads at once as it has cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// Judges cases called at once, each in a thread of its own. FAILED where one gives other bits than alone (other values
// than the oracle allows, where bits need not repeat), SKIPPED where fewer than two of them are claimed, MISTRUSTED
// where too few calls have overlapped.
struct CrowdVerdict {
  Verdict verdict;
  std::uint64_t calls = 0, overlapped = 0;
};
CrowdVerdict judge_at_once(Runner& runner, const std::vector<Case>& cases, std::int32_t num_threads);

struct CrowdOptions {
  std::vector<backgauge_op> ops;
  std::uint64_t seed = 1;
  int sets = 6;
  std::int32_t num_threads = 1;  // of each call
};

struct Crowd {
  int sets = 0;  // that were judged
  std::uint64_t calls = 0, overlapped = 0;
  // Of the first set that is not PASSED, if there is one, and its cases.
  Verdict worst;
  std::vector<Case> cases;
};
// Ops, shapes and settings are mixed; two cases of each set differ in their values only. Stops at the first failure.
Crowd crowd(Runner& runner, const CrowdOptions& options);

// The command that calls these cases at once again, but for --impl.
std::string at_once_words(const std::vector<Case>& cases);

}  // namespace backgauge
