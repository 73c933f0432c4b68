// SPDX-License-Identifier: Apache-2.0
// Judges CudnnRNNBackprop if its dropout masks are not available, by the adjoint identity <dY, J v> = <J^T dY, v> for
// random directions v. The left side is the slope of the implementation's own forward, the right side follows from its
// gradient. The tolerance: reference/arithmetic/bounds.md 8.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/adjoint/mask_free_reference.h"
#include "properties/judge/adjoint/slope.h"

namespace backgauge {

// Both sides of the identity along one direction, per unit of the step.
struct AlongSlope {
  double forward = 0, gradient = 0;
  double tolerance = 0;     // for their difference; inf if it is unknown
  double ratio = 0;         // |difference| / tolerance; inf if the gradient is not finite where it must be
  double resolution = 0;    // root of the sum of squares of the terms of the gradient's side, divided by the tolerance
  bool determined = false;  // all its terms are 0 by contract

  bool conclusive() const;  // one missing term of four would be noticed, or all terms must be 0
};
AlongSlope along(const Slope& slope, const Problem& problem, const std::vector<Output>& gradient,
                 const MaskFreeReference& reference, RoundingErrors roundings);

// The first element that differs between two runs of the forward: in its bits if `bitwise`, otherwise by more than the
// sum of both allowed errors. "" if none does.
std::string changed(const RunResult& first, const RunResult& second, const MaskFreeReference& reference, bool bitwise,
                    backgauge_dtype dtype);

// The verdict on the outputs of a run of the gradient. Its reports follow `forward_reports`, and its note says how it
// was judged.
Verdict judge_along(const Slopes& slopes, const Problem& problem, const std::vector<Output>& gradient,
                    const MaskFreeReference& reference, RoundingErrors roundings, const Declared& declared,
                    std::vector<TensorReport> forward_reports);

}  // namespace backgauge
