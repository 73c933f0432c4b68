// SPDX-License-Identifier: Apache-2.0
// Implementations that are not wrong by mistake: they cheat, or damage the process they run in. Each is a correct
// implementation with one such misbehaviour.
#pragma once

#include <string>
#include <vector>

#include "reference/contract/claims.h"

namespace backgauge::saboteurs {

struct Hostile {
  // kPassed: a correct twin, which does the same within what is allowed.
  enum class Verdict { kFailed, kBroken, kPassed };
  // Where the misbehaviour shows. kCases: in some legal case; kMalformed: in calls that must be refused; kWorker,
  // kRefused: the same two, but the process may end, so that a worker is needed; kAtOnce: in concurrent calls;
  // kRepeated: where bits are compared from call to call; kThreads: where threads are counted; kMemory: where
  // memory is measured over many calls.
  enum class Trial { kCases, kMalformed, kWorker, kRefused, kAtOnce, kRepeated, kThreads, kMemory };

  std::string id;    // late_write
  std::string what;  // one line
  Trial trial = Trial::kCases;
  Verdict verdict = Verdict::kFailed;
  std::string reason{};  // text that the reason of some verdict must contain; "": any reason
  backgauge_implementation table{};
  ClaimArrays claims{};  // of the table
};

// The hostile implementations, and the correct twins of some of them. correct: an implementation that claims
// everything; the same one in every call of these functions. It must outlive all of them.
const std::vector<Hostile>& hostile_implementations(const backgauge_implementation& correct);
const std::vector<Hostile>& correct_twins(const backgauge_implementation& correct);

}  // namespace backgauge::saboteurs
