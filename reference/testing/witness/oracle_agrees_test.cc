// SPDX-License-Identifier: Apache-2.0
// The oracle and the witness agree on thousands of small random problems: every mode, direction, input mode and number
// of layers, peepholes, dropout, saved tensors that fit each other and that do not, gates at their limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "reference/oracle.h"
#include "reference/testing/random_problem.h"
#include "reference/testing/witness/witness.h"

namespace backgauge {
namespace {

// Both compute in double, in different orders: 1.1e-16 per operation, and at most a thousand operations on the way to
// an element: 5 steps times 3 layers, forward and back, of sums of no more than 15 terms and some ten further
// operations. That is 1e-13 of the magnitude; ten times that leaves room for library functions that are off by more
// than one ulp.
constexpr double kAgreement = 1e-12;

// Further values that a formula may trip over, each with probability 1/8: gates and activations at their limits, zeros
// elsewhere. A tensor's never-read part becomes NaN.
void roughen(Problem& problem, std::mt19937_64& random) {
  const auto limit = [&](const std::string& name) -> double {
    const bool high = random() % 2 == 0;
    if (name == "i" || name == "f" || name == "o") return high ? 1 : 0;
    if (name == "ci" || name == "co") return high ? 1 : -1;
    return 0;
  };
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    for (Tensor& tensor : problem.inputs) {
      if (tensor.name != spec.name || spec.is_int64) continue;
      for (double& value : tensor.values) {
        if (random() % 8 == 0) value = limit(tensor.name);
      }
      const std::int64_t read = elements_in_rows(tensor.shape, spec.rows(problem.extents));
      std::fill(tensor.values.begin() + read, tensor.values.end(), std::numeric_limits<double>::quiet_NaN());
    }
  }
}

// Weights that drive gates into saturation.
void saturate(Problem& problem) {
  for (Tensor& tensor : problem.inputs) {
    if (tensor.name != "params") continue;
    for (double& value : tensor.values) value *= 8;
  }
}

std::string describe(const Problem& problem, std::uint64_t seed) {
  const Extents& e = problem.extents;
  const backgauge_attributes& a = problem.attributes;
  std::ostringstream text;
  text << find_op(problem.op)->word << " seed=" << seed << " T=" << e.T << " B=" << e.B << " I=" << e.I << " H=" << e.H
       << " S=" << e.S << " L=" << e.L << " peephole=" << e.peephole << " " << rnn_mode_word(a.rnn_mode) << " "
       << input_mode_word(a.input_mode) << " " << direction_word(a.direction) << " dropout=" << a.dropout;
  return text.str();
}

// Largest |oracle - witness| / magnitude.
void expect_agreement(const Problem& problem, double& largest) {
  const std::vector<Tensor> oracle = oracle_values(problem);
  const auto answers = witness(problem);
  ASSERT_EQ(oracle.size(), answers.size());
  for (std::size_t k = 0; k < oracle.size(); ++k) {
    ASSERT_EQ(oracle[k].name, answers[k].name);
    ASSERT_EQ(oracle[k].shape, answers[k].shape) << oracle[k].name;
    ASSERT_EQ(oracle[k].values.size(), answers[k].value.size()) << oracle[k].name;
    for (std::size_t index = 0; index < oracle[k].values.size(); ++index) {
      const double difference = std::abs(oracle[k].values[index] - answers[k].value[index]);
      const double magnitude = answers[k].magnitude[index];
      ASSERT_TRUE(std::isfinite(magnitude)) << oracle[k].name << "[" << index << "]";
      ASSERT_LE(std::abs(answers[k].value[index]), magnitude) << oracle[k].name << "[" << index << "]";
      ASSERT_LE(difference, kAgreement * magnitude)
          << oracle[k].name << "[" << index << "]: oracle " << oracle[k].values[index] << ", witness "
          << answers[k].value[index] << ", magnitude " << magnitude;
      if (magnitude > 0) largest = std::max(largest, difference / magnitude);
    }
  }
}

void expect_agreement_on(backgauge_op op, std::uint64_t problems) {
  double largest = 0;
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    Problem problem = testing::random_problem(op, seed, {.consistent = seed % 2 == 0});
    std::mt19937_64 random(seed);
    if (seed % 3 == 0) roughen(problem, random);
    if (seed % 5 == 0) saturate(problem);
    SCOPED_TRACE(describe(problem, seed));
    ASSERT_NO_FATAL_FAILURE(expect_agreement(problem, largest));
    if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
      ASSERT_NO_FATAL_FAILURE(expect_agreement(forward_problem(problem), largest));
    }
  }
  ::testing::Test::RecordProperty("largest_difference_by_magnitude", std::to_string(largest * 1e16) + "e-16");
}

TEST(OracleAgreesWithWitness, LstmBlockCellGrad) { expect_agreement_on(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, 3000); }
TEST(OracleAgreesWithWitness, BlockLstmGradV2) { expect_agreement_on(BACKGAUGE_BLOCK_LSTM_GRAD_V2, 3000); }
TEST(OracleAgreesWithWitness, CudnnRnnBackprop) { expect_agreement_on(BACKGAUGE_CUDNN_RNN_BACKPROP, 6000); }

}  // namespace
}  // namespace backgauge
