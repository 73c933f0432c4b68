// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/named_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "reference/flatten.h"
#include "reference/testing/random_problem.h"

namespace backgauge {
namespace {

const RoundingModel kFloat{.unit_roundoff = 0x1p-24, .least_normal = 0x1p-126};
constexpr backgauge_op kGradients[] = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                       BACKGAUGE_CUDNN_RNN_BACKPROP};
constexpr int kProblems = 40;

using Terms = std::span<const NamedTerms::Term>;

OutputNumbers values_of(const Problem& problem, NamedTerms::OnSum on_sum) {
  return flatten(NamedTerms(kFloat, problem, std::move(on_sum)), problem,
                 [](const Named& part, Index k) { return part.b.v.data()[k]; });
}

// Sums over steps are evaluated in another order, in double.
void expect_near(const OutputNumbers& got, const OutputNumbers& want, const OutputNumbers& bound) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t t = 0; t < want.size(); ++t) {
    ASSERT_EQ(got[t].size(), want[t].size());
    for (std::size_t k = 0; k < want[t].size(); ++k) EXPECT_LE(std::abs(got[t][k] - want[t][k]), 0x1p-20 * bound[t][k]);
  }
}

TEST(NamedTerms, NamesChangeNeitherValuesNorBounds) {
  for (const backgauge_op op : kGradients) {
    for (int seed = 0; seed < kProblems; ++seed) {
      const Problem problem = testing::random_problem(op, seed, {.largest = 4});
      const NamedTerms named(kFloat, problem, [](const auto&, const auto&) {});
      const Bound<double> plain(kFloat);
      const OutputNumbers bound =
          flatten(plain, problem, [](const Bounded<double>& part, Index k) { return part.e.data()[k]; });
      expect_near(flatten(named, problem, [](const Named& part, Index k) { return part.b.v.data()[k]; }),
                  flatten(plain, problem, [](const Bounded<double>& part, Index k) { return part.v.data()[k]; }),
                  bound);
      expect_near(flatten(named, problem, [](const Named& part, Index k) { return part.b.e.data()[k]; }), bound, bound);
    }
  }
}

TEST(NamedTerms, TheTermsOfEverySumAddUpToIt) {
  for (const backgauge_op op : kGradients) {
    int sums = 0;
    const auto add_up = [&](Terms terms, const Bounded<double>& sum) {
      Plane<double> total = Plane<double>::Zero(sum.rows(), sum.cols());
      for (const NamedTerms::Term& term : terms) total += term.values;
      EXPECT_TRUE(((total - sum.v).abs() <= sum.e).all()) << terms.front().name;
      ++sums;
    };
    for (int seed = 0; seed < kProblems; ++seed) {
      const Problem problem = testing::random_problem(op, seed, {.largest = 4});
      (void)evaluate(NamedTerms(kFloat, problem, add_up), problem);
    }
    EXPECT_GE(sums, kProblems);
  }
}

TEST(NamedTerms, AChangedSumGoesIntoWhatIsComputedFromIt) {
  for (int seed = 0; seed < kProblems; ++seed) {
    const Problem problem = testing::random_problem(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, seed, {.largest = 4});
    Problem without = problem;
    for (Tensor& tensor : without.inputs) {
      if (tensor.name == "cs_grad") std::ranges::fill(tensor.values, 0);
    }
    const OutputNumbers dropped = values_of(problem, [](Terms terms, Bounded<double>& sum) {
      for (const NamedTerms::Term& term : terms) {
        if (term.name == "cs_grad") sum.v -= term.values;
      }
    });
    const OutputNumbers zero = values_of(without, [](const auto&, const auto&) {});
    ASSERT_EQ(dropped.size(), zero.size());
    for (std::size_t t = 0; t < zero.size(); ++t) {
      for (std::size_t k = 0; k < zero[t].size(); ++k) EXPECT_NEAR(dropped[t][k], zero[t][k], 1e-12);
    }
  }
}

}  // namespace
}  // namespace backgauge
