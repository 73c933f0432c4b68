// SPDX-License-Identifier: Apache-2.0
// Measures how far the results of an implementation repeat bit for bit, whatever it claims.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "properties/judge/runner/runner.h"

namespace backgauge {

// The strongest first. Bits are equal if all that is listed up to the enumerator is equal.
enum class Determinism {
  kBitwise,             // the call alone
  kPerThreadCount,      // and the number of threads
  kPerMemoryPlacement,  // and where the tensors lie, and what the workspace held
  kPerProcess,          // and the process
  kRunToRun             // nothing guarantees equal bits
};
std::string_view determinism_word(Determinism determinism);  // bitwise, per thread count, ...

struct Repeats {
  Determinism measured = Determinism::kBitwise;
  std::string difference;  // the one that decided, "w_grad[0,2]: 1, then 2 with 7 threads"; "" if bitwise
  int runs = 0;            // 0: the calls did not succeed, and nothing was measured
};

// On input a legal, claimed problem without random dropout (masks are not queried). Makes ten runs with each of 1, 2
// and 7 threads, with two placements and two fills of the workspace, and one in a second process if the runner has
// processes. For CudnnRNNBackprop the forward runs as well; all gradients start from the same forward.
Repeats measure_determinism(Runner& runner, const Problem& problem, std::uint64_t seed);

// True if a claim promises more than was measured.
bool overclaims(backgauge_determinism claimed, Determinism measured);

}  // namespace backgauge
