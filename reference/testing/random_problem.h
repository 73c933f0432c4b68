// SPDX-License-Identifier: Apache-2.0
// Small random problems for the tests of the reference. Not the generator of cases: these values need not be the same
// on another machine, and are not rounded to a storage type.
#pragma once

#include <cstdint>

#include "reference/contract/call.h"

namespace backgauge::testing {

struct RandomProblemOptions {
  std::int64_t largest = 5;  // of T, B, I, H
  bool consistent = false;   // saved tensors from the forward equations; else drawn independently
  bool dropout = true;       // allow it
};

// On input a gradient op. On output a legal float64-valued problem with random extents and attributes; every value is
// nonzero but for dropout masks and, in rnn_relu nets, one dead unit. Values that the op never reads are NaN.
Problem random_problem(backgauge_op op, std::uint64_t seed, const RandomProblemOptions& options);

}  // namespace backgauge::testing
