// SPDX-License-Identifier: Apache-2.0
// Derivatives of the forward equations (reference/equations), by complex steps: with a step whose square is zero in
// long double, the imaginary part of the result divided by the step is the derivative, up to rounding.
#pragma once

#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// Some elements of an input, and the output that is its gradient; both have the same shape.
struct Direction {
  std::string name, input, gradient;
  std::vector<std::size_t> elements;
};

class ForwardSlope {
 public:
  // On input the problem of a case without clipping. For the LSTM ops its saved tensors are replaced by those of the
  // forward, and b, which the gradient does not read, by finite values. The cell has pre-activations instead of x,
  // h_prev, w and b.
  ForwardSlope(const Case& c, Problem problem);

  // The problem that the implementation is run on.
  const Problem& problem() const { return problem_; }

  // One for each input tensor that has a gradient, or for each gate of it.
  const std::vector<Direction>& directions() const { return directions_; }

  // On input a step for every element of direction.input, and dropout masks. On output the derivative of the sum of all
  // forward outputs times their upstream gradients; for the LSTM ops, as it would be with the saved tensors as they are
  // stored. That correction comes from the oracle. It is as small as a rounding, so an error in the oracle's equations
  // changes it very little.
  long double along(const Direction& direction, const std::vector<double>& step,
                    const std::vector<std::vector<std::uint8_t>>& keep) const;

 private:
  void save_forward();
  void list_directions();

  Problem problem_;               // for the implementation
  Problem forward_;               // with the inputs that only the forward reads
  std::vector<Tensor> rounding_;  // change of the oracle's gradients when the saved tensors are rounded
  std::vector<Direction> directions_;
};

}  // namespace backgauge
