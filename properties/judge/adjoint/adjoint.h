// SPDX-License-Identifier: Apache-2.0
// Judges CudnnRNNBackprop where its dropout masks are not told: <dY, J v> = <J^T dY, v> for random directions v. The
// left side is the slope of the implementation's own forward, the right side its gradient. How far they may be from
// each other: reference/arithmetic/bounds.md 8.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/judge/adjoint/slope.h"

namespace backgauge {

using Oracle = std::function<std::vector<Wanted>(const Problem&, const Declared&, Values)>;

// What is known of right outputs without their masks.
struct StandIn {
  // Outputs of forward and gradient in their order. `allowed` is infinite but for what no mask touches: the last states
  // of the layers before the first gap, and gradients that are zero whatever is dropped.
  std::vector<Wanted> forward, gradient;

  // Per output and element, how far a result may be off before it is stored: the most that stand-ins for the masks
  // allow, no dropout at all and two draws.
  std::vector<std::vector<double>> forward_errors, gradient_errors;

  // Whether all of it is finite, and stays so when it is stored, whatever it is off by.
  bool in_range = true;

  // Whether a slope is to be trusted only as far as draws of the masks show that it is one; elsewhere they are asked
  // where both sides disagree.
  bool long_steps = false;

  // A problem with masks of its own, and the values of its gradients.
  struct Draw {
    Problem problem;
    std::vector<Tensor> gradient;
  };
  // The k-th, of the problem that stand_in() was given. Kept, so that it is made once.
  std::function<const Draw&(int)> draw;
};
// With `finite` false nothing is known but the states: what is dropped decides where a NaN is.
StandIn stand_in(const Problem& problem, const Oracle& oracle, const Declared& declared, Values values,
                 std::uint64_t seed, bool finite = true);

// Both sides along one direction, per unit of its step.
struct AlongSlope {
  double forward = 0, gradient = 0;
  double tolerance = 0;     // of their difference; inf: nothing is known
  double ratio = 0;         // |difference| / tolerance; inf for a gradient that is not finite where it must be
  double resolution = 0;    // root of the sum of squares of its terms, over tolerance
  bool determined = false;  // all its terms are 0 by contract

  bool tells() const;  // a missing term of four would show, or must not be there
};
AlongSlope along(const Slope& slope, const Problem& problem, const std::vector<Output>& gradient,
                 const StandIn& stand_in, Values values);

// The first element of two runs of the forward that differs, in its bits or, if `bitwise` is not asked, by more than
// both may be off; "" if none does.
std::string changed(const RunResult& first, const RunResult& second, const StandIn& stand_in, bool bitwise,
                    backgauge_dtype dtype);

// A few words on each slope: "params_backprop along R".
std::string slope_text(const Slope& slope);

// The verdict on the outputs of a gradient run; `forward_reports` stand before its reports. Its note says how it was
// judged.
Verdict judge_along(const Slopes& slopes, const Problem& problem, const std::vector<Output>& gradient,
                    const StandIn& stand_in, Values values, const Declared& declared,
                    std::vector<TensorReport> forward_reports);

}  // namespace backgauge
