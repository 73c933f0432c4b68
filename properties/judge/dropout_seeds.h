// SPDX-License-Identifier: Apache-2.0
// Whether a forward draws its dropout masks as the contract says: the same for the same seed and seed2, another one for
// another seed, another one for another seed2 alone.
#pragma once

#include <optional>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// On input a legal, claimed problem of BACKGAUGE_CUDNN_RNN_BACKPROP with random dropout. Its forward is called four
// times with values of its own, for which no unit is dead or saturated. `told`: masks can be asked for, and are what is
// compared; else the outputs of the forward are. Where `claims` say that the generator has state, masks are told, and
// that the same seeds draw the same one is not asked.
// On output what is wrong with a call, or with its masks. That seeds change a mask is asked only where two fair draws
// are equal by chance less than once in 2^64.
std::optional<Verdict> judge_dropout_seeds(Runner& runner, const Problem& problem, const RunOptions& options,
                                           const backgauge_op_claims& claims, bool masks_available);

// Minus the binary logarithm of the chance that two fair draws of all masks of a problem are equal.
double mask_bits(const Problem& problem);

}  // namespace backgauge
