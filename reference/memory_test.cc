// SPDX-License-Identifier: Apache-2.0
// The estimated memory of the bound is within a factor of two of what it takes, and of a stack the oracle keeps no more
// than its backward pass reads.
#include "reference/memory.h"

#include <gtest/gtest.h>

#include "reference/contract/rnn_params.h"
#include "reference/contract/sanitized.h"
#include "reference/profile.h"
#include "reference/testing/random_problem.h"

namespace backgauge {
namespace {

// Large enough for its steps to be most of what is kept: 26 MB.
Problem tanh_stack() {
  Problem problem;
  problem.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  problem.attributes.rnn_mode = BACKGAUGE_RNN_TANH;
  problem.attributes.input_mode = BACKGAUGE_LINEAR_INPUT;
  problem.attributes.direction = BACKGAUGE_BIDIRECTIONAL;
  Extents& e = problem.extents;
  e.T = 200;
  e.B = 16;
  e.I = e.H = 64;
  e.L = 3;
  e.D = 2;
  e.params_length = rnn_params(problem.attributes, e.I, e.H, e.L).size();
  for (const TensorSpec& spec : spec_of(problem.op).inputs) {
    if (!spec.present(e) || spec.name == "reserve_space") continue;
    Tensor tensor{std::string(spec.name), spec.shape(e), {}};
    tensor.values.assign(static_cast<std::size_t>(element_count(tensor.shape).value()), 0x1p-6);
    problem.inputs.push_back(std::move(tensor));
  }
  return problem;
}

TEST(BoundBytes, AreWithinAFactorOfTwoOfThePeak) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  constexpr double kLeast = 20e6;  // below this, other memory of the process would matter
  int measured = 0;
  for (const backgauge_op op : {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Problem problem = testing::random_problem(op, seed, {.largest = 72, .consistent = true});
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

// For tanh the backward pass reads h of every step and pseudo-layer, and nothing else of the forward pass. Once
// the backward pass of a layer has been computed, the gradients of its gates and of its input are kept instead.
TEST(Oracle, KeepsOfAStackOnlyWhatItsBackwardPassReads) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  const Problem problem = tanh_stack();
  const Extents& e = problem.extents;
  const double plane = 2 * sizeof(double) * static_cast<double>(e.T * e.B * e.H);  // value and bound
  const auto grown = growth_of_peak([&] { (void)oracle(problem, {}, RoundingErrors::kCorrelated); });
  if (!grown) GTEST_SKIP() << "the system does not let a process forget its peak";
  // A fifth more for one step, the gradients of weights and what the allocator does not give back.
  EXPECT_LT(*grown, 1.2 * plane * static_cast<double>((e.L + 1) * e.D));
}

}  // namespace
}  // namespace backgauge
