// SPDX-License-Identifier: Apache-2.0
// The oracle's estimates of its own precision, and of random rounding errors.
#include "reference/oracle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/deviation.h"
#include "reference/rounding_model.h"
#include "reference/testing/random_problem.h"

namespace backgauge {
namespace {

constexpr backgauge_op kGradients[] = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                       BACKGAUGE_CUDNN_RNN_BACKPROP};

Problem problem_of(backgauge_op op, backgauge_dtype dtype, std::uint64_t seed, std::int64_t largest = 6) {
  Problem problem = testing::random_problem(op, seed, {.largest = largest, .consistent = true});
  problem.dtype = dtype;
  return problem;
}

TEST(Oracle, ItsOwnErrorIsASmallShareOfWhatItAllows) {
  for (const backgauge_op op : kGradients) {
    for (const backgauge_dtype dtype : kFloatDtypes) {
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Problem problem = problem_of(op, dtype, seed);
        std::vector<Wanted> wanted = oracle(problem, {}, RoundingErrors::kIndependent);
        EXPECT_LT(oracle_error(problem, wanted), kMostOracleError) << op << " " << dtype << " " << seed;
        bool judged = false;
        for (Wanted& tensor : wanted) {
          for (std::size_t k = 0; k < tensor.value.size() && !judged; ++k) {
            if (!(tensor.allowed[k] > 0) || !std::isfinite(tensor.allowed[k])) continue;
            // The evaluation that float64 is compared with has rounding errors that scaling removes.
            tensor.value[k] += (dtype == BACKGAUGE_FLOAT64 ? 0x1p11 : 1) * tensor.allowed[k] / 20;
            judged = true;
          }
        }
        if (judged) {
          EXPECT_GT(oracle_error(problem, wanted), kMostOracleError);
        }
      }
    }
  }
}

TEST(Oracle, RandomValuesLowerTheBoundAndNeverRaiseIt) {
  int lowered = 0;
  for (const backgauge_op op : kGradients) {
    for (const backgauge_dtype dtype : kFloatDtypes) {
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Problem problem = problem_of(op, dtype, seed, 12);
        const std::vector<Wanted> random = oracle(problem, {}, RoundingErrors::kIndependent),
                                  rigorous = oracle(problem, {}, RoundingErrors::kCorrelated);
        for (std::size_t t = 0; t < random.size(); ++t) {
          for (std::size_t k = 0; k < random[t].allowed.size(); ++k) {
            EXPECT_LE(random[t].allowed[k], rigorous[t].allowed[k]);
            if (random[t].allowed[k] < rigorous[t].allowed[k] / 2) ++lowered;
          }
        }
      }
    }
  }
  EXPECT_GT(lowered, 100);
}

// bounds.md 6.3, in numbers: the omitted part is at most a factor of 2 for half of the elements.
TEST(Oracle, LeavesTheNoiseOutOnlyWhereLittleWouldBeGained) {
  int left_out = 0, made = 0;
  for (const backgauge_op op : kGradients) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Problem problem = problem_of(op, BACKGAUGE_FLOAT32, seed, 10);
      const RoundingModel model = rounding_model(problem, {});
      const std::vector<ErrorModel> full = error_model(problem, {});
      OutputNumbers bound;
      for (const ErrorModel& tensor : full) bound.push_back(tensor.bound);
      const OutputNumbers some = deviations_below(first_estimate(problem, model), problem, model, bound);
      if (!some.empty()) {
        ++made;
        for (std::size_t t = 0; t < some.size(); ++t) EXPECT_EQ(some[t], full[t].deviation);
        continue;
      }
      ++left_out;
      for (const ErrorModel& tensor : full) {
        std::size_t judged = 0, gaining = 0;
        for (std::size_t k = 0; k < tensor.bound.size(); ++k) {
          if (tensor.bound[k] == 0) continue;
          ++judged;
          if (2 * kDeviations * tensor.deviation[k] <= tensor.bound[k]) ++gaining;
        }
        EXPECT_LE(2 * gaining, judged) << tensor.name;
      }
    }
  }
  EXPECT_GT(left_out, 5);
  EXPECT_GT(made, 5);
}

// bounds.md 6: if the bound cannot exclude an overflow, 8 deviations may.
TEST(Oracle, RandomValuesAreJudgedWhereTheyCannotOverflowWithinEightDeviations) {
  int open_by_bound = 0, by_bound_alone = 0, open = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem = problem_of(BACKGAUGE_CUDNN_RNN_BACKPROP, BACKGAUGE_HALF, seed, 12);
    const Declared declared{.accuracy_class = BACKGAUGE_CLASS_B};
    const std::vector<Wanted> random = oracle(problem, declared, RoundingErrors::kIndependent),
                              rigorous = oracle(problem, declared, RoundingErrors::kCorrelated);
    for (std::size_t t = 0; t < random.size(); ++t) {
      for (std::size_t k = 0; k < random[t].allowed.size(); ++k) {
        open += std::isinf(random[t].allowed[k]) ? 1 : 0;
        open_by_bound += std::isinf(rigorous[t].allowed[k]) ? 1 : 0;
        for (const Wanted* const wanted : {&random[t], &rigorous[t]}) {
          EXPECT_TRUE(!std::isnan(wanted->value[k]) || std::isinf(wanted->allowed[k]));
        }
        by_bound_alone += std::isinf(rigorous[t].allowed[k]) && std::isfinite(rigorous[t].value[k]) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(open_by_bound, 100);
  EXPECT_GT(by_bound_alone, open_by_bound / 2);  // the values are of order 1
  EXPECT_LT(open, open_by_bound / 10);
}

// bounds.md 3.11: elements keep their values unless these come near the largest number.
TEST(Oracle, OnlyValuesNearTheLargestNumberMayBeAnything) {
  const Problem problem = problem_of(BACKGAUGE_CUDNN_RNN_BACKPROP, BACKGAUGE_FLOAT32, 3, 12);
  const auto open = [&](double scale) {
    Problem scaled = problem;
    for (Tensor& tensor : scaled.inputs) {
      if (!tensor.name.ends_with("_backprop")) continue;
      for (double& value : tensor.values) value *= scale;
    }
    int count = 0;
    for (const Wanted& wanted : oracle(scaled, {}, RoundingErrors::kCorrelated)) {
      for (const long double value : wanted.value) count += std::isnan(value) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(open(1), 0);
  EXPECT_EQ(open(0x1p80), 0);  // far from it all the same: no bound overflows
  EXPECT_GT(open(0x1p126), 0);
}

}  // namespace
}  // namespace backgauge
