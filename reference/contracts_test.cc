// SPDX-License-Identifier: Apache-2.0
// A numerical contract only changes how operands of matrix products may be rounded: an emulation that rounds them
// accordingly is within the bound of the contract that it declares, and not within that of any stricter one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reference/arithmetic/exact.h"
#include "reference/contract/op_spec.h"
#include "reference/evaluate.h"
#include "reference/oracle.h"
#include "reference/rounding_model.h"
#include "reference/testing/random_problem.h"

namespace backgauge {
namespace {

// Rounds to that many significant bits, to nearest.
struct Narrow {
  int bits;

  Plane<float> operator()(const Plane<float>& x) const {
    return x.unaryExpr([this](float value) {
      int exponent = 0;
      const float fraction = std::frexp(value, &exponent);
      return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
    });
  }
};

enum class Parts {
  kOne,
  kTwo,            // upper parts added to the sums of the lower ones
  kTwoInOneSum,    // term by term
  kTwoWithoutOne,  // a fault: the lower parts of the right operands are omitted
  kThree,          // the six largest of the products of three parts, or
  kThreeAndAll,    // all nine
};

// Float arithmetic; operands of matrix products are split into parts of that many bits.
class NarrowOperands : public Exact<float> {
 public:
  explicit NarrowOperands(int bits, Parts parts) : narrow_{bits}, parts_(parts) {}

  Matrix matmul(const Matrix& x, const Matrix& y) const {
    const Matrix x_high = narrow_(x), y_high = narrow_(y);
    if (parts_ == Parts::kOne) return dot(x_high, y_high);
    if (parts_ == Parts::kThree || parts_ == Parts::kThreeAndAll) return in_three_parts(x, y);
    const Matrix x_low = narrow_(x - x_high), y_low = narrow_(y - y_high);
    if (parts_ == Parts::kTwoWithoutOne) return dot(x_low, y_high) + dot(x_high, y_high);
    if (parts_ == Parts::kTwo) return dot(x_low, y_high) + dot(x_high, y_low) + dot(x_high, y_high);
    Matrix left(x.rows(), 3 * x.cols()), right(3 * y.rows(), y.cols());
    for (Index k = 0; k < x.cols(); ++k) {
      left.col(3 * k) = x_low.col(k);
      left.col(3 * k + 1) = left.col(3 * k + 2) = x_high.col(k);
      right.row(3 * k) = right.row(3 * k + 2) = y_high.row(k);
      right.row(3 * k + 1) = y_low.row(k);
    }
    return dot(left, right);
  }
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const { return c + matmul(x, y); }

 private:
  Matrix in_three_parts(const Matrix& x, const Matrix& y) const {
    std::array<Matrix, 3> left, right;
    Matrix x_rest = x, y_rest = y;
    for (std::size_t k = 0; k < 3; ++k) {
      left[k] = narrow_(x_rest);
      right[k] = narrow_(y_rest);
      x_rest -= left[k];
      y_rest -= right[k];
    }
    Matrix out = Matrix::Zero(x.rows(), y.cols());
    for (std::size_t both = parts_ == Parts::kThree ? 2 : 4; both + 1 > 0; --both) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (k <= both && both - k < 3) out += dot(left[k], right[both - k]);
      }
    }
    return out;
  }
  static Matrix dot(const Matrix& x, const Matrix& y) {
    Matrix out = Matrix::Zero(x.rows(), y.cols());
    for (Index k = 0; k < x.cols(); ++k) out += x.col(k).replicate(1, y.cols()) * y.row(k).replicate(x.rows(), 1);
    return out;
  }

  Narrow narrow_;
  Parts parts_;
};

struct Contract {
  backgauge_numerical_contract declared;
  int bits;  // that a product keeps of its operands
  int bits_of_part;
  Parts parts = Parts::kOne;
};
constexpr Contract kContracts[] = {{BACKGAUGE_FP32_STRICT, 24, 24},
                                   {BACKGAUGE_FP32_9XBF16, 24, 8, Parts::kThreeAndAll},
                                   {BACKGAUGE_FP32_6XBF16, 23, 8, Parts::kThree},
                                   {BACKGAUGE_FP32_3XTF32, 22, 11, Parts::kTwo},
                                   {BACKGAUGE_FP32_3XBF16, 16, 8, Parts::kTwo},
                                   {BACKGAUGE_FP32_TF32, 11, 11},
                                   {BACKGAUGE_FP16_ACC32, 11, 11},
                                   {BACKGAUGE_BF16_ACC32, 8, 8}};

NarrowOperands emulation(const Contract& contract) { return NarrowOperands(contract.bits_of_part, contract.parts); }
constexpr backgauge_op kOpsWithProducts[] = {BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP};

Problem problem_of(backgauge_op op, std::uint64_t seed) {
  Problem problem = testing::random_problem(op, seed, {.largest = 6, .consistent = true});
  problem.dtype = BACKGAUGE_FLOAT32;
  for (Tensor& tensor : problem.inputs) {
    for (double& value : tensor.values) value = static_cast<double>(static_cast<float>(value));
  }
  return problem;
}

double worst_ratio(const Problem& problem, const NarrowOperands& emulated, backgauge_numerical_contract declared,
                   RoundingErrors roundings) {
  const std::vector<Wanted> wanted = oracle(problem, {.numerical_contract = declared}, roundings);
  double worst = 0;
  std::size_t t = 0;
  for (const auto& evaluated : evaluate(emulated, problem)) {
    std::size_t k = 0;
    for (const auto& part : evaluated.parts) {
      for (Index m = 0; m < part.size(); ++m, ++k) {
        const double off = std::fabs(static_cast<double>(part.data()[m]) - static_cast<double>(wanted[t].value[k]));
        if (off > 0) worst = std::max(worst, off / wanted[t].allowed[k]);
      }
    }
    ++t;
  }
  return worst;
}

TEST(Contracts, AnEmulationIsWithinItsOwnContractAndOutsideOfStricterOnes) {
  for (const backgauge_op op : kOpsWithProducts) {
    for (const RoundingErrors roundings : {RoundingErrors::kCorrelated, RoundingErrors::kIndependent}) {
      for (const Contract& emulated : kContracts) {
        for (const Contract& declared : kContracts) {
          int cases = 0, outside = 0;
          for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const Problem problem = problem_of(op, seed);
            // One step of the LSTM has no recurrent product, and an empty sequence has no product at all.
            if (op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 && problem.extents.S < 2) continue;
            ++cases;
            const double worst = worst_ratio(problem, emulation(emulated), declared.declared, roundings);
            if (emulated.bits >= declared.bits) {
              EXPECT_LE(worst, 1) << op << " " << emulated.declared << " as " << declared.declared << " seed " << seed;
            } else if (!(worst <= 1)) {
              ++outside;
            }
          }
          ASSERT_GT(cases, 5);
          // Always visible if the values are random. A rigorous bound for 11 bits is only 8 times narrower than one
          // for 8, and also covers chains of products whose errors do not add up. Rounding errors of 22 bits are as
          // large as those of float, and cannot be distinguished from them; those of 16 bits are about as large as what
          // nine products for each term may add up to, so that few cases show them.
          if (emulated.bits < declared.bits && emulated.bits < 22) {
            EXPECT_GE((emulated.bits < 16 ? 4 : cases) * outside, cases)
                << op << " " << emulated.declared << " as " << declared.declared;
          }
        }
      }
    }
  }
}

TEST(Contracts, TwoPartsOfElevenBitsAreWhatTheyAreInAnyOrderAndNothingLess) {
  const struct {
    int bits;
    Parts parts;
    bool right;
  } all[] = {{11, Parts::kTwo, true},
             {11, Parts::kTwoInOneSum, true},
             {11, Parts::kOne, false},
             {11, Parts::kTwoWithoutOne, false},
             {8, Parts::kTwo, false}};
  for (const backgauge_op op : kOpsWithProducts) {
    for (const auto& emulated : all) {
      int cases = 0, outside = 0;
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const Problem problem = problem_of(op, seed);
        if (op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 && problem.extents.S < 2) continue;
        const NarrowOperands emulation(emulated.bits, emulated.parts);
        ++cases;
        if (emulated.right) {
          EXPECT_LE(worst_ratio(problem, emulation, BACKGAUGE_FP32_3XTF32, RoundingErrors::kCorrelated), 1)
              << "seed " << seed;
        }
        if (!(worst_ratio(problem, emulation, BACKGAUGE_FP32_3XTF32, RoundingErrors::kIndependent) <= 1)) ++outside;
      }
      ASSERT_GT(cases, 5);
      if (emulated.right) {
        EXPECT_EQ(outside, 0);
      } else {
        EXPECT_GE(4 * outside, 3 * cases) << op << ": " << emulated.bits << " bits";
      }
    }
  }
}

TEST(Contracts, ChangeTheRoundingOfOperandsAndNothingElse) {
  for (const backgauge_dtype dtype : kFloatDtypes) {
    Problem problem = testing::random_problem(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, 1, {});
    problem.dtype = dtype;
    const std::vector<Wanted> strict = oracle(problem, {}, RoundingErrors::kIndependent);
    for (const Contract& contract : kContracts) {
      const Declared declared{.numerical_contract = contract.declared};
      RoundingModel model = rounding_model(problem, declared);
      const bool narrower = contract.declared != BACKGAUGE_FP32_STRICT && dtype != BACKGAUGE_FLOAT64;
      // Three parts of 8 bits are a whole float.
      const bool is_rounded = narrower && contract.bits <= 22;
      EXPECT_EQ(model.operand_roundoff, is_rounded ? std::ldexp(1.0, -contract.bits) : 0);
      EXPECT_EQ(model.operand_underflow > 0, narrower && contract.declared == BACKGAUGE_FP16_ACC32);
      EXPECT_EQ(model.parts.roundoff,
                narrower && contract.parts != Parts::kOne ? std::ldexp(1.0, -contract.bits_of_part) : 0);
      model.operand_roundoff = 0;
      const RoundingModel want = rounding_model(problem, {});
      EXPECT_EQ(model.unit_roundoff, want.unit_roundoff);
      EXPECT_EQ(model.least_normal, want.least_normal);
      EXPECT_EQ(model.carry_roundoff, want.carry_roundoff);
      EXPECT_EQ(model.recomputed_co, want.recomputed_co);
      // The cell has no product of matrices, so nothing changes at all.
      const std::vector<Wanted> wanted = oracle(problem, declared, RoundingErrors::kIndependent);
      for (std::size_t t = 0; t < wanted.size(); ++t) EXPECT_EQ(wanted[t].allowed, strict[t].allowed);
    }
  }
}

// The operands computed from one sample exceed the largest half: the products that contain them are unbounded, and all
// other bounds do not change.
TEST(Contracts, OperandsBeyondTheLargestHalfOpenTheirProducts) {
  const auto named = [](const std::vector<Wanted>& all, std::string_view name) {
    return *std::ranges::find(all, name, &Wanted::name);
  };
  int cases = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Problem problem = testing::random_problem(BACKGAUGE_BLOCK_LSTM_GRAD_V2, seed, {.consistent = true});
    problem.dtype = BACKGAUGE_FLOAT32;
    const Extents& e = problem.extents;
    if (e.S < 1 || e.B < 2 || e.I < 1) continue;
    ++cases;
    Tensor& cs_grad = *std::ranges::find(problem.inputs, "cs_grad", &Tensor::name);
    for (std::int64_t k = 0; k < e.H; ++k) cs_grad.values[static_cast<std::size_t>((e.S - 1) * e.B * e.H + k)] = 1e9;
    for (const RoundingErrors roundings : {RoundingErrors::kCorrelated, RoundingErrors::kIndependent}) {
      const std::vector<Wanted> strict = oracle(problem, {}, roundings);
      const std::vector<Wanted> narrow = oracle(problem, {.numerical_contract = BACKGAUGE_FP16_ACC32}, roundings);
      for (const Wanted& wanted : strict) {
        for (const double allowed : wanted.allowed) EXPECT_TRUE(std::isfinite(allowed)) << wanted.name;
      }
      const Wanted x_grad = named(narrow, "x_grad");
      for (std::int64_t row = 0; row < e.S * e.B; ++row) {
        for (std::int64_t k = 0; k < e.I; ++k) {
          const double allowed = x_grad.allowed[static_cast<std::size_t>(row * e.I + k)];
          EXPECT_EQ(std::isinf(allowed), row % e.B == 0) << "seed " << seed << " row " << row;
        }
      }
      // cs_grad does not reach the gate o of its own step.
      const Wanted w_grad = named(narrow, "w_grad");
      for (std::size_t k = 0; k < w_grad.allowed.size(); ++k) {
        const bool is_o = static_cast<std::int64_t>(k) / e.H % 4 == 3;
        EXPECT_EQ(std::isinf(w_grad.allowed[k]), !is_o || e.S > 1) << "seed " << seed << " element " << k;
      }
      // No product comes before those of the last step.
      if (e.S == 1 && roundings == RoundingErrors::kCorrelated) {
        EXPECT_EQ(named(narrow, "b_grad").allowed, named(strict, "b_grad").allowed);
      }
    }
  }
  EXPECT_GE(cases, 5);
}

}  // namespace
}  // namespace backgauge
