// SPDX-License-Identifier: Apache-2.0
// What a dtype and the declarations of an implementation say about roundings: arithmetic/bounds.md 2 and 4.
#pragma once

#include "reference/arithmetic/roundings.h"
#include "reference/oracle.h"

namespace backgauge {

RoundingModel rounding_model(const Problem& problem, const Declared& declared);

// On input the exact value and how far a result may be from it before it is stored. On output how far afterwards: 0
// where it is exactly zero or, not being finite, must be matched; infinite where nothing is known.
double stored(double value, double error, backgauge_dtype dtype);

}  // namespace backgauge
