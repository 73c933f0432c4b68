// SPDX-License-Identifier: Apache-2.0
// Every form in which an implementation may write the equations is within the allowed error, also if intermediate
// values overflow, and if inputs are infinite. bounds.md 3.10, 3.11
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "reference/contract/storage.h"
#include "reference/oracle.h"
#include "reference/testing/random_problem.h"
#include "reference/testing/written_out.h"

namespace backgauge {
namespace {

constexpr backgauge_op kGradients[] = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                       BACKGAUGE_CUDNN_RNN_BACKPROP};

struct Arithmetic {
  backgauge_dtype dtype;
  backgauge_accuracy_class accuracy_class;
};
constexpr std::array<Arithmetic, 9> kArithmetics = {{{BACKGAUGE_FLOAT32, BACKGAUGE_CLASS_A},
                                                     {BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_A},
                                                     {BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_A_PRIME},
                                                     {BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_S},
                                                     {BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_B},
                                                     {BACKGAUGE_HALF, BACKGAUGE_CLASS_A},
                                                     {BACKGAUGE_HALF, BACKGAUGE_CLASS_A_PRIME},
                                                     {BACKGAUGE_HALF, BACKGAUGE_CLASS_S},
                                                     {BACKGAUGE_HALF, BACKGAUGE_CLASS_B}}};

bool is_upstream(const std::string& name) { return name.ends_with("_grad") || name.ends_with("_backprop"); }

// Multiplies upstream gradients by `scale`; all values stay in the range of the dtype.
Problem problem_of(backgauge_op op, backgauge_dtype dtype, std::uint64_t seed, double scale) {
  Problem problem = testing::random_problem(op, seed, {.largest = 4, .consistent = true});
  problem.dtype = dtype;
  const double largest = float_format(dtype).largest;
  for (Tensor& tensor : problem.inputs) {
    if (tensor.name == "seq_len_max") continue;
    for (double& value : tensor.values) {
      if (is_upstream(tensor.name)) value *= scale;
      value = round_to(dtype, std::clamp(value, -largest, largest));
    }
  }
  return problem;
}

// Like the judge: properties/judge/compare/compare.h.
bool is_right(double got, double want, double allowed, double largest) {
  if (std::isinf(allowed)) return true;
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || want == got) return want == got;
  if (std::isnan(got)) return false;
  if (std::isinf(got)) return got > 0 ? want + allowed > largest : want - allowed < -largest;
  return std::fabs(got - want) <= allowed;
}

enum class Kind { kFinite, kPositive, kNegative, kNan };
Kind kind_of(double value) {
  if (std::isnan(value)) return Kind::kNan;
  return !std::isinf(value) ? Kind::kFinite : value > 0 ? Kind::kPositive : Kind::kNegative;
}

struct Counts {
  int wrong = 0, finite = 0, infinite = 0, nan = 0, open = 0;
  int open_and_seen = 0;  // elements of infinite bound for which some form gives a NaN, or two differ in kind
};

void count(const Problem& problem, const Arithmetic& arithmetic, RoundingErrors roundings, Counts& counts) {
  const Declared declared{.accuracy_class = arithmetic.accuracy_class};
  const std::vector<Wanted> wanted = oracle(problem, declared, roundings);
  const double largest = float_format(problem.dtype).largest;
  std::vector<std::vector<std::array<bool, 4>>> seen;
  for (const Wanted& tensor : wanted) seen.emplace_back(tensor.value.size());
  for (const testing::Forms& forms : testing::all_forms()) {
    const auto got = testing::written_out(problem, forms, arithmetic.accuracy_class);
    for (std::size_t t = 0; t < got.size(); ++t) {
      for (std::size_t k = 0; k < got[t].size(); ++k) {
        const double want = static_cast<double>(wanted[t].value[k]);
        seen[t][k][static_cast<std::size_t>(kind_of(got[t][k]))] = true;
        if (is_right(got[t][k], want, wanted[t].allowed[k], largest)) continue;
        if (++counts.wrong > 5) continue;
        ADD_FAILURE() << find_op(problem.op)->word << " mode " << problem.attributes.rnn_mode << " "
                      << dtype_word(problem.dtype) << " class " << arithmetic.accuracy_class << ", " << wanted[t].name
                      << "[" << k << "]: got " << got[t][k] << " want " << want << " allowed " << wanted[t].allowed[k]
                      << ", forms " << static_cast<int>(forms.tanh) << static_cast<int>(forms.sigmoid)
                      << forms.differences_times_g << forms.choices << forms.backwards;
      }
    }
  }
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    for (std::size_t k = 0; k < wanted[t].value.size(); ++k) {
      const auto& kinds = seen[t][k];
      const auto kind = kind_of(static_cast<double>(wanted[t].value[k]));
      if (std::isinf(wanted[t].allowed[k])) {
        ++counts.open;
        counts.open_and_seen += kinds[3] || kinds[0] + kinds[1] + kinds[2] > 1 ? 1 : 0;
      } else {
        ++(kind == Kind::kNan ? counts.nan : kind == Kind::kFinite ? counts.finite : counts.infinite);
      }
    }
  }
}

TEST(Forms, OfAnInfinityAreAllAllowedAndNoMoreIsOpenThanMustBe) {
  for (const backgauge_op op : kGradients) {
    for (const Arithmetic& arithmetic : {kArithmetics.front(), kArithmetics.back()}) {
      Counts counts;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Problem problem = problem_of(op, arithmetic.dtype, seed, 1);
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
        // An upstream gradient in three of four problems, any input in the others.
        std::vector<Tensor*> tensors;
        for (Tensor& tensor : problem.inputs) {
          if (tensor.name == "seq_len_max" || tensor.values.empty()) continue;
          if (seed % 4 == 0 || is_upstream(tensor.name)) tensors.push_back(&tensor);
        }
        std::vector<double>& place = tensors[below(tensors.size())]->values;
        place[below(place.size())] = seed % 2 == 0 ? INFINITY : -INFINITY;
        count(problem, arithmetic, RoundingErrors::kCorrelated, counts);
      }
      EXPECT_EQ(counts.wrong, 0) << op << " " << dtype_word(arithmetic.dtype) << " class " << arithmetic.accuracy_class;
      EXPECT_GT(counts.infinite, 0) << op;
      EXPECT_GT(counts.finite, 100) << op;
      EXPECT_GT(counts.open, 10) << op;
      EXPECT_GT(10 * counts.open_and_seen, 9 * counts.open)
          << op << " " << dtype_word(arithmetic.dtype) << " class " << arithmetic.accuracy_class;
    }
  }
}

TEST(Forms, ThatOverflowOnTheWayAreAllAllowedAndTheOthersAreJudged) {
  for (const backgauge_op op : kGradients) {
    for (const Arithmetic& arithmetic : kArithmetics) {
      const int end = arithmetic.dtype == BACKGAUGE_HALF ? 16 : 128;  // 2^end is beyond the largest number
      Counts counts;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const double scale = std::ldexp(1, end - 7 + static_cast<int>(seed % 7));
        const Problem problem = problem_of(op, arithmetic.dtype, seed, scale);
        count(problem, arithmetic, seed % 2 == 0 ? RoundingErrors::kIndependent : RoundingErrors::kCorrelated, counts);
      }
      EXPECT_EQ(counts.wrong, 0) << op << " " << dtype_word(arithmetic.dtype) << " class " << arithmetic.accuracy_class;
      EXPECT_GT(counts.finite, 100) << op;
      const bool rounds_what_is_handed_on =
          arithmetic.accuracy_class == BACKGAUGE_CLASS_A_PRIME || arithmetic.accuracy_class == BACKGAUGE_CLASS_S;
      if (arithmetic.dtype == BACKGAUGE_HALF && arithmetic.accuracy_class == BACKGAUGE_CLASS_A) {
        EXPECT_EQ(counts.open, 0) << "float does not overflow where half does";
      } else if (op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD || !rounds_what_is_handed_on) {
        EXPECT_GT(counts.open, 10) << op << " " << dtype_word(arithmetic.dtype) << " class "
                                   << arithmetic.accuracy_class;
      }
    }
  }
}

}  // namespace
}  // namespace backgauge
