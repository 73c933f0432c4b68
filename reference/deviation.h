// SPDX-License-Identifier: Apache-2.0
// Standard deviation of the error of each element when roundings are random: arithmetic/bounds.md 6.
#pragma once

#include "reference/flat.h"

namespace backgauge {

// The cheaper of the estimates, and what the other one needs of it.
struct FirstEstimate {
  Flat variance;
  std::vector<UndisturbedDot> dots;
};
FirstEstimate first_estimate(const Problem& problem, const RoundingModel& model);

// The larger of both estimates for every element, on input what first_estimate gave.
Flat deviations(FirstEstimate first, const Problem& problem, const RoundingModel& model);

// The same as deviations, on input what first_estimate gave; or nothing where kDeviations of them would hardly be less
// than `bound`, the rigorous errors: then the costlier estimate is not made.
Flat deviations_below(FirstEstimate first, const Problem& problem, const RoundingModel& model, const Flat& bound);

// Whether more than one core is worth while: tens of milliseconds an evaluation.
bool is_large(const Problem& problem);

}  // namespace backgauge
