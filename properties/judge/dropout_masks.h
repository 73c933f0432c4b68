// SPDX-License-Identifier: Apache-2.0
// Checks dropout masks: whether each can be a fair draw, and whether they are a function of their seeds as the contract
// says, that is, equal for equal seed and seed2, and different if one of these changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/case_session.h"

namespace backgauge {

// What is wrong with a dropout mask: a value other than 0 and 1, or a share of kept elements that a fair draw has with
// a probability below 10^-12. "" if nothing.
std::string implausible_mask(const std::vector<std::uint8_t>& keep, double dropout);

// On input a legal, claimed case, and the answer to CaseSession::dropout_masks(). On output why the gradient need not
// be run: what is wrong with a call or with a mask, or that masks depend on earlier calls and are not available.
// Wherever masks are drawn, the forward is called four more times. If masks are not available, its outputs are compared
// instead. That a seed changes the mask is checked only if two fair draws are equal with a probability below 2^-64.
std::optional<Verdict> judge_dropout_masks(const CaseSession& session, const DropoutMasks& masks,
                                           const RunOptions& options);

}  // namespace backgauge
