// SPDX-License-Identifier: Apache-2.0
// How long a variant takes for a case.
#pragma once

#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {

// Of the products with weights, which a variant takes one by one.
double multiplications(backgauge_op op, const Extents& sizes);

// Cases on which hundreds of variants are run have no more. This many take one variant about a millisecond, and about
// one case in twenty of tier ci has more.
inline constexpr double kFewMultiplications = 0x1p18;

}  // namespace backgauge::saboteurs
