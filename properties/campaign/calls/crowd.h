// SPDX-License-Identifier: Apache-2.0
// Concurrent calls, in every tier: a few sets of cases, each set called by one thread for each of its cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// Judges cases that are called concurrently, each in a thread of its own. FAILED if a call gives other bits than alone
// (or, if bits need not repeat, values that the oracle does not allow), SKIPPED if fewer than two cases are claimed,
// MISTRUSTED if too few calls of a thread overlapped.
struct CrowdVerdict {
  Verdict verdict;
  std::uint64_t calls = 0, overlapped = 0;
};
CrowdVerdict judge_at_once(Runner& runner, const std::vector<Case>& cases, std::int32_t num_threads);

// Sets of four cases, one thread for each: more would only wait for each other on a small machine. The first is of any
// op; the second of each op in turn; the third is the second with one property changed, and the fourth the third with
// other values, which reveals what is shared by size or by address. Sizes and values let every input change the
// outputs.
std::vector<std::vector<Case>> crowd_sets(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed);

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
// Each op has its sets in turn, with cases of other ops among them. Two cases of a set differ only in their values.
// Stops at the first failure.
Crowd crowd(Runner& runner, const CrowdOptions& options);

// The command that makes these concurrent calls again, without --impl.
std::string at_once_words(const std::vector<Case>& cases);

}  // namespace backgauge
