// SPDX-License-Identifier: Apache-2.0
// The implementations that must never fail: the correct variants and the built-in implementations.
#pragma once

#include <string>
#include <vector>

#include "ci/proof/grid.h"
#include "ci/proof/proof.h"

namespace backgauge::cli {

struct Correct {
  std::string name, what;
  const backgauge_implementation* implementation;
};

// Always in the same order.
std::vector<Correct> correct_implementations();

// Adds one judged case to a result.
void count(CorrectResult& result, const Case& c, const Judged& judged);

// Adds every `step`-th malformed call of `called` that was not refused, in the dtypes claimed for `op`.
void count_refusals(CorrectResult& result, const backgauge_implementation& implementation, backgauge_op op,
                    backgauge_op called, std::size_t step);

}  // namespace backgauge::cli
