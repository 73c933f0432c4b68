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
  enum class Verdict { kFailed, kBroken };
  // Where the habit shows. kCases: on some legal case; kMalformed: on calls that must be refused; kWorker: as kCases,
  // but it may end its process, so that only a worker survives it.
  enum class Trial { kCases, kMalformed, kWorker };

  std::string id;    // late_write
  std::string what;  // one line
  Trial trial = Trial::kCases;
  Verdict verdict = Verdict::kFailed;
  std::string reason{};  // what the judge says of it somewhere: a part of the reason; "": whatever it is
  backgauge_implementation table{};
};

// On input an implementation that claims everything, the same at every call; it outlives all.
const std::vector<Hostile>& hostile_implementations(const backgauge_implementation& correct);

}  // namespace backgauge::saboteurs
