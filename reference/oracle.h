// SPDX-License-Identifier: Apache-2.0
// The oracle: what a call must compute, and for every element how far a correct implementation may be from it. Both
// come from the inputs alone. The equations are in equations/, the arithmetics they are evaluated in in arithmetic/.
#pragma once

#include <vector>

#include "reference/contract/call.h"
#include "reference/declared.h"

namespace backgauge {

// How the rounding errors of one call are related. It follows from how the inputs were generated and is never inferred
// from their values: with random data, rounding errors behave like independent random numbers; with structured data
// (constants, few distinct values, special values) they may not. arithmetic/bounds.md 6.
enum class RoundingErrors { kCorrelated, kIndependent };

struct Wanted {
  std::string name;
  Shape shape;
  std::vector<long double> value;  // exact to a part in 2^10 of `allowed` or better
  // Largest permitted |got - value|. 0: exactly zero of either sign, or this infinity or a NaN. inf: may be anything, a
  // NaN too; value is a NaN then.
  std::vector<double> allowed;
};

// On input a problem whose inputs are complete but for reserve_space, output, output_h and output_c, which are not
// looked at; dropout masks in problem.keep where 0 < dropout < 1 and L > 1. On output every output of the op in the
// order of its table, but for reserve_space. `allowed` is the rigorous bound; for independent rounding errors the
// smaller of it and eight standard deviations.
std::vector<Wanted> oracle(const Problem& problem, const Declared& declared, RoundingErrors roundings);

// What `oracle` makes its allowances from, for tests of the model itself: how far a result may be from `value`
// before it is stored. Rows at the end that are zero by contract are left out.
struct ErrorModel {
  std::string name;
  std::vector<long double> value;
  std::vector<double> bound;      // never more, bounds.md 3
  std::vector<double> deviation;  // standard deviation if the roundings are random, bounds.md 6
};
std::vector<ErrorModel> error_model(const Problem& problem, const Declared& declared);

// On output the largest share of `allowed` that the error of `value` itself takes, over all elements: from another
// evaluation with 11 bits more. For float64, whose values are long double already, the difference from one with 11 bits
// less shows it, scaled by 2^-11. More than kMostOracleError is the oracle's fault, not that of an implementation.
double oracle_error(const Problem& problem, const std::vector<Wanted>& wanted);
inline constexpr double kMostOracleError = 0.01;

// The values alone, in plain double: of a forward op the forward, else the gradient.
std::vector<Tensor> oracle_values(const Problem& problem);

// The forward call that belongs to a problem whose op takes the outputs of one: the inputs they share.
Problem forward_problem(const Problem& backprop);

}  // namespace backgauge
