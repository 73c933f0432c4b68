// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/expected_outputs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using testing::cell_case;
using testing::net_case;

// An oracle that counts its calls, and returns one element that identifies the call.
struct Asked {
  int times = 0;
  std::vector<RoundingErrors> roundings;

  ExpectedOutputs::Oracle oracle() {
    return [this](const Problem& problem, const Declared&, RoundingErrors how) {
      ++times;
      roundings.push_back(how);
      return std::vector<Wanted>{{std::string(find_op(problem.op)->word), {1}, {static_cast<long double>(times)}, {0}}};
    };
  }
};

TEST(ExpectedOutputs, TheOracleIsAskedOnceForTheSameQuestion) {
  Asked asked;
  ExpectedOutputs expected({}, asked.oracle());
  Problem problem = fill(net_case(BACKGAUGE_RNN_RELU, 0.5)).problem;
  problem.keep = {{1, 0}};
  const std::vector<Wanted>& first = expected.gradient(problem, {});
  EXPECT_EQ(&expected.gradient(problem, {.accuracy_class = BACKGAUGE_CLASS_B}),
            &first);  // float32: the class does not matter
  EXPECT_EQ(asked.times, 1);

  // Everything that changes the result needs a separate evaluation.
  Problem other = problem;
  other.keep = {{0, 1}};
  EXPECT_EQ(expected.gradient(other, {}).front().value[0], 2);
  other = problem;
  other.attributes.rnn_mode = BACKGAUGE_RNN_TANH;
  EXPECT_EQ(expected.gradient(other, {}).front().value[0], 3);
  other = problem;
  other.attributes.dropout = 0;
  EXPECT_EQ(expected.gradient(other, {}).front().value[0], 4);
  EXPECT_EQ(expected.gradient(problem, {.numerical_contract = BACKGAUGE_FP32_TF32}).front().value[0], 5);
  EXPECT_EQ(expected.forward(problem, {}).front().value[0], 6);
  EXPECT_EQ(expected.rigorous_gradient(problem, {}).front().value[0], 7);
  EXPECT_EQ(first.front().value[0], 1);
  problem.dtype = BACKGAUGE_HALF;
  ExpectedOutputs half({}, asked.oracle());
  EXPECT_NE(&half.gradient(problem, {}), &half.gradient(problem, {.accuracy_class = BACKGAUGE_CLASS_B}));
}

TEST(ExpectedOutputs, FactsDecideHowRoundingErrorsAreRelated) {
  const Problem problem = fill(cell_case()).problem;
  for (const bool structured : {false, true}) {
    for (const bool nonfinite : {false, true}) {
      Asked asked;
      ExpectedOutputs expected({.structured = structured, .nonfinite = nonfinite}, asked.oracle());
      expected.gradient(problem, {});
      const auto want = structured || nonfinite ? RoundingErrors::kCorrelated : RoundingErrors::kIndependent;
      EXPECT_EQ(asked.roundings, std::vector{want});
      EXPECT_EQ(expected.rounding_errors(), want);
    }
  }
}

// Where nobody says how rounding errors are related, the rigorous bounds decide, unless they prove nothing and the
// values look random.
TEST(ExpectedOutputs, ValuesDecideWhereRigorousBoundsProveNothing) {
  const Problem random = fill(net_case(BACKGAUGE_GRU, 0)).problem;
  Problem repeating = random;
  std::ranges::fill(repeating.inputs.front().values, 0.1);
  for (const Problem* const problem : {&random, static_cast<const Problem*>(&repeating)}) {
    for (const double allowed : {1e-6, 0.5}) {
      std::vector<RoundingErrors> asked;
      ExpectedOutputs expected({.structured = true}, [&](const Problem&, const Declared&, RoundingErrors how) {
        asked.push_back(how);
        return std::vector<Wanted>{{"x", {1}, {1}, {how == RoundingErrors::kCorrelated ? allowed : 1e-7}}};
      });
      const double got = expected.gradient(*problem, {}).front().allowed[0];
      const bool by_deviations = problem == &random && allowed > 0.1;
      EXPECT_EQ(got, by_deviations ? 1e-7 : allowed);
      EXPECT_EQ(asked.size(), by_deviations ? 2u : 1u);
      EXPECT_EQ(expected.why_rigorous(*problem, {}), problem == &random ? "" : "values of input repeat up to 30 times");
      EXPECT_EQ(expected.rigorous_gradient(*problem, {}).front().allowed[0], allowed);
    }
  }
}

TEST(ExpectedOutputs, TheForwardComesFirstIfThereIsOne) {
  Asked asked;
  ExpectedOutputs expected({}, asked.oracle());
  const std::vector<Wanted> both = expected.all(fill(net_case(BACKGAUGE_GRU, 0)).problem, {});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "cudnn_rnn");
  EXPECT_EQ(both[1].name, "cudnn_rnn_backprop");
  EXPECT_EQ(ExpectedOutputs({}, asked.oracle()).all(fill(cell_case()).problem, {}).size(), 1u);
  EXPECT_ANY_THROW(expected.forward(fill(cell_case()).problem, {}));
}

}  // namespace
}  // namespace backgauge
