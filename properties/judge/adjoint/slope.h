// SPDX-License-Identifier: Apache-2.0
// How the forward of an implementation rises along a direction: the sum of what comes from above times every output of
// CudnnRNN, at both ends of steps along +-1 for every element of an input or a kind of its parameters. Nothing is
// asked of the oracle.
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
  std::vector<long double> moved;    // per element of the direction, upper end less lower end: what was really walked
  std::vector<long double> shifted;  // the middle of both less x
  long double rise = 0;              // of the sum, upper end less lower end
  long double response = 0;          // root of the sum of squares of the terms of rise
  long double bend = 0;              // sum of |upstream| times |upper - 2 middle + lower| of each output element
  long double last_roundings = 0;    // the most that storing all terms of rise can be off by
  long double last_squares = 0;      // sum of the squares of that, term by term
};

struct Slope {
  std::string input, gradient;        // "params", "params_backprop"
  std::string part;                   // "R": of the parameters; "" of another input
  std::vector<std::size_t> elements;  // those that move
  std::vector<Step> steps;            // of sizes e, e / 2 and 2 e; of rnn_relu e and e / 2
};

struct Slopes {
  std::vector<Slope> slopes;
  std::optional<Verdict> failure;  // of the runs
};

// On input a CudnnRNNBackprop problem and what its forward has made of it. Ends the runner's case after every
// direction, so that the memory of all these calls is never held at once.
Slopes measure_slopes(Runner& runner, const Problem& problem, const std::vector<Output>& made, const Declared& declared,
                      const RunOptions& options, std::uint64_t seed);

// Whether steps are so long, because roundings are so coarse, that how a slope changes over one is not to be told from
// a shorter one alone: half, and operands that are narrower than float.
bool has_long_steps(const Problem& problem, const Declared& declared);

// What comes from above for an output of the forward: output_backprop for output.
const Tensor& upstream_of(const Problem& problem, std::string_view output);

}  // namespace backgauge
