// SPDX-License-Identifier: Apache-2.0
// How far an implementation's answers repeat, bit for bit: measured, whatever it claims.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "properties/judge/runner/runner.h"

namespace backgauge {

// The best first. Each says what must be the same for the bits to be the same.
enum class Determinism {
  kBitwise,             // the call alone
  kPerThreadCount,      // and the number of threads
  kPerMemoryPlacement,  // and where the tensors lie, and what the workspace held
  kPerProcess,          // and the process
  kRunToRun             // nothing is enough
};
std::string_view determinism_word(Determinism determinism);  // bitwise, per thread count, ...

struct Repeats {
  Determinism measured = Determinism::kBitwise;
  std::string difference;  // the one that decided: "w_grad[0,2]: 1, then 2 with 7 threads"; "" if bitwise
  int runs = 0;            // 0: the calls did not succeed, and nothing was measured
};

// On input a legal, claimed problem with random dropout nowhere (masks are not asked for). Ten runs with each of 1, 2
// and 7 threads, two placements and two fills of the workspace, and one in a second process where the runner has that;
// of CudnnRNNBackprop the forward as well, every gradient from the same forward.
Repeats measure_determinism(Runner& runner, const Problem& problem, std::uint64_t seed);

// Whether a claim promises more than was measured.
bool overclaims(backgauge_determinism claimed, Determinism measured);

}  // namespace backgauge
