// SPDX-License-Identifier: Apache-2.0
// Standard deviation of the error of each element if rounding errors are random: arithmetic/bounds.md 6.
#pragma once

#include "reference/flatten.h"

namespace backgauge {

// The cheaper of the two estimates, and what the other one needs from it.
struct FirstEstimate {
  OutputNumbers variance;
  std::vector<UndisturbedDot> dots;
};
FirstEstimate first_estimate(const Problem& problem, const RoundingModel& model);

// The larger of both estimates for every element, given the result of first_estimate.
OutputNumbers deviations(FirstEstimate first, const Problem& problem, const RoundingModel& model);

// The same as deviations, given the result of first_estimate; or nothing if kDeviations of them would hardly be less
// than `bound`, the rigorous errors: then the more expensive estimate is not computed.
OutputNumbers deviations_below(FirstEstimate first, const Problem& problem, const RoundingModel& model,
                               const OutputNumbers& bound);

// Whether it pays to use several cores: if an evaluation takes tens of milliseconds.
bool is_large(const Problem& problem);

}  // namespace backgauge
