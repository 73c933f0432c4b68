// SPDX-License-Identifier: Apache-2.0
// Implementations that are not wrong by mistake: they cheat, or hurt the process they are in. Each is a correct
// implementation with one such habit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::saboteurs {

struct Hostile {
  // kPassed: a correct twin, which does what a hostile one does as far as that is allowed.
  enum class Verdict { kFailed, kBroken, kPassed };
  // Where the habit shows. kCases: on some legal case; kMalformed: on calls that must be refused; kWorker, kRefused: as
  // these two, but it may end its process, so that only a worker survives it; kAtOnce: where several threads call;
  // kRepeated: where bits are compared from call to call; kThreads: where threads are counted.
  enum class Trial { kCases, kMalformed, kWorker, kRefused, kAtOnce, kRepeated, kThreads };

  std::string id;    // late_write
  std::string what;  // one line
  Trial trial = Trial::kCases;
  Verdict verdict = Verdict::kFailed;
  std::string reason{};  // what the judge says of it somewhere: a part of the reason; "": whatever it is
  backgauge_implementation table{};
  std::vector<backgauge_op_claims> claims{};  // of the table
};

// On input an implementation that claims everything, the same at every call; it outlives all. On output the hostile
// ones, and the twins of some of them.
const std::vector<Hostile>& hostile_implementations(const backgauge_implementation& correct);
const std::vector<Hostile>& correct_twins(const backgauge_implementation& correct);

}  // namespace backgauge::saboteurs
