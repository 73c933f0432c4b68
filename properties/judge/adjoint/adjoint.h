// SPDX-License-Identifier: Apache-2.0
// Judges CudnnRNNBackprop where its dropout masks are not told: <dY, J v> = <J^T dY, v> for random directions v. The
// left side is the slope of the implementation's own forward, the right side its gradient. How far they may be from
// each other: reference/arithmetic/bounds.md 8.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/adjoint/mask_free_reference.h"
#include "properties/judge/adjoint/slope.h"

namespace backgauge {

// Both sides along one direction, per unit of its step.
struct AlongSlope {
  double forward = 0, gradient = 0;
  double tolerance = 0;     // of their difference; inf: nothing is known
  double ratio = 0;         // |difference| / tolerance; inf for a gradient that is not finite where it must be
  double resolution = 0;    // root of the sum of squares of its terms, over tolerance
  bool determined = false;  // all its terms are 0 by contract

  bool conclusive() const;  // a missing term of four would show, or must not be there
};
AlongSlope along(const Slope& slope, const Problem& problem, const std::vector<Output>& gradient,
                 const MaskFreeReference& reference, RoundingErrors roundings);

// The first element of two runs of the forward that differs, in its bits or, if `bitwise` is not asked, by more than
// both may be off; "" if none does.
std::string changed(const RunResult& first, const RunResult& second, const MaskFreeReference& reference, bool bitwise,
                    backgauge_dtype dtype);

// A few words on each slope: "params_backprop along R".
std::string slope_text(const Slope& slope);

// The verdict on the outputs of a gradient run; `forward_reports` stand before its reports. Its note says how it was
// judged.
Verdict judge_along(const Slopes& slopes, const Problem& problem, const std::vector<Output>& gradient,
                    const MaskFreeReference& reference, RoundingErrors roundings, const Declared& declared,
                    std::vector<TensorReport> forward_reports);

}  // namespace backgauge
