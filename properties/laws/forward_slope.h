// SPDX-License-Identifier: Apache-2.0
// Derivatives of the forward equations (reference/equations), by complex steps: with a step whose square is zero in
// long double, the imaginary part of the result over the step is the derivative but for roundings.
#pragma once

#include <string>
#include <vector>

#include "properties/case/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// Some elements of an input, and the output that is its gradient; both have the same shape.
struct Direction {
  std::string name, input, gradient;
  std::vector<std::size_t> elements;
};

class ForwardSlope {
 public:
  // On input the problem of a case without clipping. For the LSTM ops its saved tensors become those of the forward,
  // and b, which the gradient does not read, finite. The cell has pre-activations instead of x, h_prev, w and b.
  ForwardSlope(const Case& c, Problem problem);

  // What to ask the implementation.
  const Problem& problem() const { return problem_; }

  // One per input tensor that has a gradient, and gate where it has gates.
  const std::vector<Direction>& directions() const { return directions_; }

  // On input a step for every element of direction.input, and dropout masks. On output the derivative of the sum of
  // everything that the forward makes times what comes from above for it; for the LSTM ops, what it would be with the
  // saved tensors as they are stored. That difference is the oracle's: of the size of a rounding, so that a fault of
  // its equations shows in it as little.
  long double along(const Direction& direction, const std::vector<double>& step,
                    const std::vector<std::vector<std::uint8_t>>& keep) const;

 private:
  void save_forward();
  void list_directions();

  Problem problem_;               // as asked
  Problem forward_;               // with what only the forward reads
  std::vector<Tensor> rounding_;  // of the oracle's gradients, by rounding the saved tensors
  std::vector<Direction> directions_;
};

}  // namespace backgauge
