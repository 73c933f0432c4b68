// SPDX-License-Identifier: Apache-2.0
// The oracle: the expected outputs of a call, and for every element how far a correct implementation may be from it.
// Both depend only on the inputs. The equations are in equations/, the arithmetics that evaluate them in arithmetic/.
#pragma once

#include <vector>

#include "reference/contract/call.h"
#include "reference/contract/claims.h"

namespace backgauge {

// How the rounding errors of one call are related. With random data, rounding errors behave like independent random
// numbers; with structured data (constants, few distinct values, special values) they may not. arithmetic/bounds.md 6.
enum class RoundingErrors { kCorrelated, kIndependent };

struct Wanted {
  std::string name;
  Shape shape;
  std::vector<long double> value;  // exact to a part in 2^10 of `allowed` or better
  // Largest permitted |got - value|. 0: exactly zero of either sign, or this infinity or a NaN. inf, and value is a
  // NaN: may be anything, including NaN, because intermediate values may overflow or are not finite. inf, and value is
  // finite: only the error bound overflows, so that agreement proves nothing; but a NaN is wrong.
  std::vector<double> allowed;
};

// On input a problem with all inputs except reserve_space, output, output_h and output_c, which are not read; with
// dropout masks in problem.keep if 0 < dropout < 1 and L > 1. On output every output of the op in the order of its
// table, except reserve_space. `allowed` is the rigorous bound; for independent rounding errors, the smaller of the
// bound and eight standard deviations.
std::vector<Wanted> oracle(const Problem& problem, const Declared& declared, RoundingErrors roundings);

// The error model behind `oracle`, for tests of the model itself: how far a result may be from `value` before it is
// stored. Rows at the end that are zero by contract are left out.
struct ErrorModel {
  std::string name;
  std::vector<long double> value;
  std::vector<double> bound;      // rigorous, bounds.md 3
  std::vector<double> deviation;  // standard deviation if the roundings are random, bounds.md 6
};
std::vector<ErrorModel> error_model(const Problem& problem, const Declared& declared);

// The largest error of `value` itself relative to `allowed`, over all elements, from another evaluation with 11 more
// bits. For float64, whose values already are long double, from the difference to an evaluation with 11 fewer bits,
// scaled by 2^-11. More than kMostOracleError is a fault of the oracle, not of an implementation.
double oracle_error(const Problem& problem, const std::vector<Wanted>& wanted);
inline constexpr double kMostOracleError = 0.01;

// The values alone, in plain double: the outputs of the problem's op.
std::vector<Tensor> oracle_values(const Problem& problem);

// The forward call that belongs to a problem whose op takes the outputs of one: the inputs they share.
Problem forward_problem(const Problem& backprop);

}  // namespace backgauge
