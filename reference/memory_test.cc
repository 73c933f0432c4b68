// SPDX-License-Identifier: Apache-2.0
// The estimated memory of the bound is within a factor of two of what it takes.
#include "reference/memory.h"

#include <gtest/gtest.h>

#include "reference/contract/sanitized.h"
#include "reference/profile.h"
#include "reference/testing/random_problem.h"

namespace backgauge {
namespace {

TEST(BoundBytes, AreWithinAFactorOfTwoOfThePeak) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  constexpr double kLeast = 20e6;  // below this, other memory of the process would matter
  int measured = 0;
  for (const backgauge_op op : {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Problem problem = testing::random_problem(op, seed, {.largest = 60, .consistent = true});
      problem.dtype = BACKGAUGE_FLOAT32;
      const double estimated = bound_bytes(problem);
      if (estimated < kLeast) continue;
      const auto grown = growth_of_peak([&] { (void)oracle(problem, {}, RoundingErrors::kCorrelated); });
      if (!grown) GTEST_SKIP() << "the system does not let a process forget its peak";
      EXPECT_GT(2 * estimated, *grown) << op << " " << seed;
      EXPECT_LT(estimated / 2, *grown) << op << " " << seed;
      ++measured;
    }
  }
  EXPECT_GE(measured, 5);
}

}  // namespace
}  // namespace backgauge
