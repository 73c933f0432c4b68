// SPDX-License-Identifier: Apache-2.0
// Values that are there for a reason of their own: in elements that are never read, and the one non-finite element of
// kNan and kInf.
#pragma once

#include "properties/case/regime.h"

namespace backgauge {

// On output the elements beyond the rows that the table of the op reads hold regime.poison. Where that takes cell
// states away that a saved co belongs to, facts.consistent_saved becomes false.
void poison_unread(const Case& c, const Regime& regime, Problem& problem, DataFacts& facts);

// On output one element that is read is NaN, or Inf of either sign; none if nothing is read.
void plant_nonfinite(const Case& c, Problem& problem, DataFacts& facts);

}  // namespace backgauge
