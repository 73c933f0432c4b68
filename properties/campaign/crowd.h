// SPDX-License-Identifier: Apache-2.0
// Concurrent calls, in every tier: a few sets of cases, each set called by one thread for each of its cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// Judges cases that are called concurrently, each in a thread of its own. FAILED if a call gives other bits than alone
// (or, if bits need not repeat, values that the oracle does not allow), SKIPPED if fewer than two cases are claimed,
// MISTRUSTED if too few calls overlapped.
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
  // The verdict and the cases of the first set that is not PASSED, if there is one.
  Verdict worst;
  std::vector<Case> cases;
};
// Ops, shapes and settings are mixed; two cases of each set differ only in their values. Stops at the first failure.
Crowd crowd(Runner& runner, const CrowdOptions& options);

// The command that makes these concurrent calls again, without --impl.
std::string at_once_words(const std::vector<Case>& cases);

}  // namespace backgauge
