// SPDX-License-Identifier: Apache-2.0
// The rounding errors implied by a dtype and the declarations of an implementation: arithmetic/bounds.md 2 and 4.
#pragma once

#include "reference/arithmetic/roundings.h"
#include "reference/oracle.h"

namespace backgauge {

RoundingModel rounding_model(const Problem& problem, const Declared& declared);

// bounds.md 3.11: that of an implementation which rounds nothing, and whose largest number is the root of the real one.
// What may overflow there comes near an overflow by its values, and not by their errors.
RoundingModel exact_and_narrow(const RoundingModel& model);

// The error bound of a result after it is stored, given its exact value and its error bound before: 0 if it must be
// exactly zero, or the same non-finite value; infinite if it is unbounded.
double bound_when_stored(double value, double error, backgauge_dtype dtype);

}  // namespace backgauge
