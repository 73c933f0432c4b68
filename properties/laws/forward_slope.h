// SPDX-License-Identifier: Apache-2.0
// Derivatives of the forward equations (reference/equations), by complex steps (complex_step.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/laws/transform.h"
#include "reference/contract/call.h"
#include "reference/contract/claims.h"

namespace backgauge {

// Some elements of an input, and the output that is its gradient; both have the same shape.
struct Direction {
  std::string name, input, gradient;
  std::vector<std::size_t> elements;
};

class ForwardSlope {
 public:
  virtual ~ForwardSlope() = default;

  // The problem that the implementation is run on.
  const Problem& problem() const { return problem_; }

  // One for each input tensor that has a gradient, or for each gate of it.
  const std::vector<Direction>& directions() const { return directions_; }

  // On input a step for every element of direction.input, dropout masks, and what the implementation declares. On
  // output the derivative of the sum of all forward outputs times their upstream gradients.
  virtual long double along(const Direction& direction, const std::vector<double>& step,
                            const std::vector<std::vector<std::uint8_t>>& keep, const Declared& declared) const = 0;

 protected:
  explicit ForwardSlope(Problem problem) : problem_(std::move(problem)), forward_(problem_) {}

  // Adds a direction of these elements, unless there are none.
  void add(std::string name, std::string input, std::string gradient, std::vector<std::size_t> elements);
  // Adds a direction of all elements that are read, if the call has the tensor.
  void add_tensor(const std::string& name, const std::string& gradient);

  Problem problem_;  // for the implementation
  Problem forward_;  // with the inputs that only the forward reads

 private:
  std::vector<Direction> directions_;
};

// On input the problem of a case without clipping; an op may replace values in it.
std::unique_ptr<ForwardSlope> forward_slope(const Case& c, Problem problem);

}  // namespace backgauge
