// SPDX-License-Identifier: Apache-2.0
// The slope of an implementation's forward along a direction: the change of the sum of all outputs of CudnnRNN, each
// multiplied by its upstream gradient, between both ends of steps. A direction is +1 or -1 for each element of an
// input, or of one kind of parameters. The oracle is not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge {

// Both ends of a step: the inputs nearest to x - size * signs and x + size * signs in the dtype.
struct Step {
  long double size = 0;
  std::vector<long double> moved;    // per element of the direction, upper end minus lower end, as rounded to the dtype
  std::vector<long double> shifted;  // the middle of both ends minus x
  long double rise = 0;              // the sum at the upper end minus that at the lower end
  long double response = 0;          // root of the sum of squares of the terms of rise
  long double bend = 0;              // sum of |upstream| times |upper - 2 middle + lower| of each output element
  long double last_roundings = 0;    // the largest error of rise that storing the outputs can cause
  long double last_squares = 0;      // the sum of the squares of its terms
};

struct Slope {
  std::string input, gradient;        // "params", "params_backprop"
  std::string part;                   // which parameters, "R"; "" for other inputs
  std::vector<std::size_t> elements;  // those that the direction changes
  std::vector<Step> steps;            // of sizes e, e / 2 and 2 e; for rnn_relu e and e / 2
};

struct Slopes {
  std::vector<Slope> slopes;
  std::optional<Verdict> failure;  // of a call
};

// On input a CudnnRNNBackprop problem and the outputs of its forward. Ends the runner's case after each direction, so
// that the memory of these calls is not held all at once.
Slopes measure_slopes(Runner& runner, const Problem& problem, const std::vector<Output>& made, const Declared& declared,
                      const RunOptions& options, std::uint64_t seed);

// True if roundings are so coarse (half, or operands narrower than float), and steps therefore so long, that shorter
// steps alone do not show how much the slope changes over one.
bool has_long_steps(const Problem& problem, const Declared& declared);

// The upstream gradient for an output of the forward: output_backprop for output.
const Tensor& upstream_of(const Problem& problem, std::string_view output);

}  // namespace backgauge
