// SPDX-License-Identifier: Apache-2.0
// Whether the rounding errors of a call may count as independent although nobody has declared its inputs random:
// reference/arithmetic/bounds.md 6.4, which derives the test.
#pragma once

#include <string>

#include "reference/contract/call.h"
#include "reference/contract/claims.h"

namespace backgauge {

// "" if they may; else what speaks against it: "values of w repeat up to 96 times". All values that are read
// must be finite. `declared`: of an implementation, which says in what format it computes and carries.
std::string why_not_independent(const Problem& problem, const Declared& declared);

}  // namespace backgauge
