// SPDX-License-Identifier: Apache-2.0
// Checks that a forward draws its dropout masks as the contract says: equal masks for equal seed and seed2, another
// mask if seed or seed2 changes.
#pragma once

#include <optional>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {

// On input a legal, claimed case of a stacked op with random dropout. Its forward is called four times, with values for
// which no unit is dead or saturated. If `masks_available`, the masks that the implementation reports are compared,
// otherwise the outputs of the forward. If the claims say that the generator has state, masks must be available, and
// equal seeds may draw different ones. On output what is wrong with a call or with its masks. That a seed changes the
// mask is checked only if two fair draws are equal with a probability below 2^-64.
std::optional<Verdict> judge_dropout_seeds(const CaseSession& session, const RunOptions& options, bool masks_available);

// Minus the binary logarithm of the probability that two fair draws of all masks of a problem are equal.
double mask_bits(const Problem& problem);

}  // namespace backgauge
