// SPDX-License-Identifier: Apache-2.0
// The bound of each operation holds for float evaluations in every form it claims to cover, and is not idle.
#include "reference/arithmetic/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace backgauge {
namespace {

const RoundingModel kFloat{.unit_roundoff = 0x1p-24, .least_normal = 0x1p-126};
using B = Bound<double>;
using M = B::Matrix;

float draw(std::mt19937& random) { return std::normal_distribution<float>()(random); }
M row(const std::vector<double>& values) {
  return B(kFloat).input(values.data(), 1, static_cast<Index>(values.size()));
}
M with_error(const std::vector<double>& values, double e) {
  M out = row(values);
  out.e += e;
  return out;
}

TEST(Bound, DotCoversEveryOrderOfSummationAndIsNotIdle) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int n = 1 + round % 37;
    std::vector<double> x(n), y(n);
    std::vector<float> terms(n);
    float forward = 0, fused = 0;
    for (int k = 0; k < n; ++k) {
      x[k] = draw(random), y[k] = draw(random);
      const float a = static_cast<float>(x[k]), b = static_cast<float>(y[k]);
      terms[k] = a * b;
      forward += terms[k];
      fused = std::fma(a, b, fused);
    }
    float reverse = 0;
    for (int k = n; k-- > 0;) reverse += terms[k];
    std::sort(terms.begin(), terms.end());
    const float sorted = std::accumulate(terms.begin(), terms.end(), 0.0f);
    const B a(kFloat);
    const M dot = a.matmul(row(x), a.transpose(row(y)));
    for (float got : {forward, reverse, fused, sorted}) EXPECT_LE(std::abs(got - dot.v(0, 0)), dot.e(0, 0)) << n;
    double size = 0;
    for (int k = 0; k < n; ++k) size += std::abs(x[k] * y[k]);
    EXPECT_LE(dot.e(0, 0), (n + 2) * 0x1p-24 * size + 1e-30);
  }
}

TEST(Bound, AddMatmulCoversAnAccumulatorThatStartsFromAHugeTerm) {
  const B a(kFloat);
  std::vector<double> x(64, 1.0 / 3), y(64, 1.0 / 7);
  for (double& v : x) v = static_cast<float>(v);
  for (double& v : y) v = static_cast<float>(v);
  float got = 1000;
  for (int k = 0; k < 64; ++k) got += static_cast<float>(x[k]) * static_cast<float>(y[k]);
  const M out = a.add_matmul(row({1000}), row(x), a.transpose(row(y)));
  EXPECT_LE(std::abs(got - out.v(0, 0)), out.e(0, 0));
  EXPECT_GT(std::abs(got - out.v(0, 0)), 3 * 0x1p-24 * 1000) << "the example must need more than one rounding of c";
}

TEST(Bound, SlopesCoverTheirForms) {
  std::mt19937 random(2);
  const B a(kFloat);
  for (int round = 0; round < 2000; ++round) {
    const float s = 1 / (1 + std::exp(-4 * draw(random))), t = std::tanh(3 * draw(random));
    const M ss = a.sigmoid_slope(row({s})), tt = a.tanh_slope(row({t}));
    const float square = s * s;
    for (float got : {s * (1 - s), s - square, std::fma(-s, s, s)}) {
      EXPECT_LE(std::abs(got - ss.v(0, 0)), ss.e(0, 0)) << s;
    }
    const float tsquare = t * t;
    for (float got : {1 - tsquare, (1 - t) * (1 + t), std::fma(-t, t, 1.0f)}) {
      EXPECT_LE(std::abs(got - tt.v(0, 0)), tt.e(0, 0)) << t;
    }
  }
}

TEST(Bound, ActivationsCoverFloatRoutines) {
  std::mt19937 random(3);
  const B a(kFloat);
  for (int round = 0; round < 2000; ++round) {
    const float x = 6 * draw(random);
    const M s = a.sigmoid(row({x})), t = a.tanh(row({x}));
    for (float got : {1 / (1 + std::exp(-x)), 0.5f * std::tanh(0.5f * x) + 0.5f}) {
      EXPECT_LE(std::abs(got - s.v(0, 0)), s.e(0, 0)) << x;
    }
    EXPECT_LE(std::abs(std::tanh(x) - t.v(0, 0)), t.e(0, 0)) << x;
    // An error of the argument reaches the result through the slope, also where the slope itself moves.
    const double off = 0.125;
    const M s_off = a.sigmoid(with_error({x}, off)), t_off = a.tanh(with_error({x}, off));
    for (double moved : {x - off, x + off}) {
      EXPECT_LE(std::abs(1 / (1 + std::exp(-moved)) - s_off.v(0, 0)), s_off.e(0, 0));
      EXPECT_LE(std::abs(std::tanh(moved) - t_off.v(0, 0)), t_off.e(0, 0));
    }
  }
}

TEST(Bound, BlendCoversBothForms) {
  std::mt19937 random(4);
  const B a(kFloat);
  for (int round = 0; round < 2000; ++round) {
    const float z = 1 / (1 + std::exp(-draw(random))), h = draw(random), n = std::tanh(draw(random));
    const M out = a.blend(row({z}), row({h}), row({n}));
    for (float got : {(1 - z) * n + z * h, n + z * (h - n), std::fma(z, h - n, n)}) {
      EXPECT_LE(std::abs(got - out.v(0, 0)), out.e(0, 0));
    }
  }
}

TEST(Bound, WhatNoRoundingReachesIsExact) {
  const B a(kFloat);
  const M zero = row({0, 0}), x = row({3, -5});
  EXPECT_EQ(a.product(zero, x).e.maxCoeff(), 0);
  EXPECT_EQ(a.sum(zero, zero).e.maxCoeff(), 0);
  EXPECT_EQ(a.matmul(zero, a.transpose(x)).e(0, 0), 0);
  EXPECT_EQ(a.add_matmul(row({7}), zero, a.transpose(x)).e(0, 0), 0);
  EXPECT_EQ(a.column_sums(a.transpose(zero)).e(0, 0), 0);
  EXPECT_EQ(a.sigmoid_slope(row({0, 1})).e.maxCoeff(), 0);
  EXPECT_EQ(a.tanh_slope(row({1, -1})).e.maxCoeff(), 0);
  EXPECT_EQ(a.blend(row({0.5}), row({0}), row({0})).e(0, 0), 0);
  EXPECT_EQ(a.matmul(a.zeros(2, 0), a.zeros(0, 3)).e.maxCoeff(), 0);
  EXPECT_EQ(a.column_sums(a.zeros(0, 3)).v.cols(), 3);
}

TEST(Bound, ReluIsEitherSidedOnlyWhereTheSignIsUncertain) {
  const B a(kFloat);
  const M pre = with_error({1e-3, -1e-3, 2.0, -2.0}, 0.01);
  const M gated = a.where_positive(pre, row({5, 5, 5, 5}));
  EXPECT_EQ(gated.v(0, 0), 5);
  EXPECT_EQ(gated.e(0, 0), 5);  // may be 0 too
  EXPECT_EQ(gated.v(0, 1), 0);
  EXPECT_EQ(gated.e(0, 1), 5);  // may be 5 too
  EXPECT_EQ(gated.v(0, 2), 5);
  EXPECT_EQ(gated.e(0, 2), 0);
  EXPECT_EQ(gated.v(0, 3), 0);
  EXPECT_EQ(gated.e(0, 3), 0);
  const M dead = a.where_positive(row({0}), row({5}));  // exactly 0: the derivative is 0, nothing else
  EXPECT_EQ(dead.v(0, 0), 0);
  EXPECT_EQ(dead.e(0, 0), 0);
}

TEST(Bound, ReluOfSlopeOneAtZeroIsClosedOnlyWhereItIsCertainlyNegative) {
  RoundingModel model = kFloat;
  model.relu_slope_at_zero = true;
  const M gated = B(model).where_positive(row({0, -0.0, 2, -2, -0x1p-130}), row({5, 5, 5, 5, 5}));
  const double values[] = {5, 5, 5, 0, 0}, errors[] = {0, 0, 0, 0, 5};  // a subnormal number may be taken for 0
  for (Eigen::Index k = 0; k < 5; ++k) {
    EXPECT_EQ(gated.v(0, k), values[k]) << k;
    EXPECT_EQ(gated.e(0, k), errors[k]) << k;
  }
}

// In any order, 3 - 1 - 2 is 0; with 2^24 and 1 in one sum, it depends on the order.
TEST(Bound, ReluGateOfASumThatIsExactInEveryOrderIsCertain) {
  const auto gate = [](const RoundingModel& model, const M& left, const M& right) {
    const B a(model);
    const M p = a.sum(a.saved(a.matmul(left, a.transpose(right))), row({0}));
    return a.where_positive(p, row({5})).e(0, 0);
  };
  const M ones = row({1, 1, 1});
  EXPECT_EQ(gate(kFloat, row({3, -1, -2}), ones), 0);
  EXPECT_EQ(gate(kFloat, row({3 * 0x1p-20, -0x1p-20, -0x1p-19}), ones), 0);
  EXPECT_EQ(gate(kFloat, row({0x1p21, 1, -0x1p21}), ones), 0);
  EXPECT_EQ(gate(kFloat, row({0x1p24, 1, -0x1p24}), ones), 5);
  EXPECT_EQ(gate(kFloat, row({0.1f, 0.2f, -0.1f - 0.2f}), ones), 5);
  EXPECT_EQ(gate(kFloat, row({3 * 0x1p-140, -0x1p-140, -0x1p-139}), ones), 5);  // may be flushed
  EXPECT_EQ(gate(kFloat, with_error({3, -1, -2}, 0x1p-30), ones), 5);

  RoundingModel saved = kFloat;
  saved.rounds_saved = true;
  saved.carry_roundoff = 0x1p-11;
  EXPECT_EQ(gate(saved, row({3, -1, -2}), ones), 0);
  EXPECT_EQ(gate(saved, row({0x1p12, 1, -0x1p12 - 1}), ones), 5);  // 2^12 + 1 is not a number of half
  RoundingModel tf32 = kFloat;
  tf32.operand_roundoff = 0x1p-11;
  EXPECT_EQ(gate(tf32, row({3, -1, -2}), ones), 5);
}

// The state that an exact pre-activation leaves is exact too.
TEST(Bound, ReluOfAnExactSumIsExactInTheNextOne) {
  const B a(kFloat);
  const M ones = row({1, 1, 1}), x = row({3, -1, -2});
  const M h = a.carried(a.relu(a.matmul(x, a.transpose(ones))));
  const M next = a.matmul(a.beside({&h, &ones}), a.transpose(row({7, 1, 1, -2})));
  EXPECT_GT(next.e(0, 0), 0);
  EXPECT_EQ(a.where_positive(next, row({5})).e(0, 0), 0);
}

// Assumption 3: an implementation that flushes subnormal numbers takes them for 0, one that does not for positive.
TEST(Bound, ReluGateOfASubnormalNumberMayBeClosed) {
  const B a(kFloat);
  const M gated = a.where_positive(row({0x1p-130, 0x1p-126}), row({5, 5}));
  EXPECT_EQ(gated.v(0, 0), 5);
  EXPECT_EQ(gated.e(0, 0), 5);
  EXPECT_EQ(gated.e(0, 1), 0);
}

TEST(Bound, ASubnormalNumberToWhichNothingIsAddedMayBeFlushed) {
  const B a(kFloat);
  const M zero = row({0}), zeros = row({0, 0, 0});
  const M sum = a.add_matmul(row({0x1p-130, 0x1p-126, 0}), zero, zeros);
  EXPECT_EQ(sum.e(0, 0), 0x1p-130);
  EXPECT_EQ(sum.e(0, 1), 0);
  EXPECT_EQ(sum.e(0, 2), 0);
}

TEST(Bound, ProductCoversUnderflowInAnyOrder) {
  const B a(kFloat);
  // (1e-30 * 1e-20) * 1e25 loses everything, 1e-30 * (1e-20 * 1e25) nothing.
  const float lost = (1e-30f * 1e-20f) * 1e25f;
  const M out = a.product(row({1e-30f}), row({1e-20f}), row({1e25f}));
  EXPECT_LE(std::abs(lost - out.v(0, 0)), out.e(0, 0));
}

TEST(Bound, SigmoidSlopeOfInfinityIsOpenWhereItsFormsDiffer) {
  const B a(kFloat);
  const M out = a.sigmoid_slope(row({INFINITY, -INFINITY}));
  EXPECT_TRUE(std::isinf(out.e(0, 0)));  // inf (1 - inf) and inf - inf inf
  EXPECT_EQ(out.v(0, 1), -INFINITY);
  EXPECT_EQ(out.e(0, 1), 0);
}

// inf = inf + NaN, and the lower part of 1 is 0.
TEST(Bound, AnInfiniteOperandOfTwoPartsOpensItsProductAndANaNDoesNot) {
  const RoundingModel model{.unit_roundoff = 0x1p-24,
                            .least_normal = 0x1p-126,
                            .operand_roundoff = 0x1p-22,
                            .operand_largest = 0x1.ffcp127,
                            .parts = {.roundoff = 0x1p-11, .products = 3, .left_out = 0x1p-22, .size = 1 + 0x1p-10}};
  const auto product = [&](double x, double y, bool split) {
    const B bound(split ? model : kFloat);
    return bound.add_matmul(bound.zeros(1, 1), row({x}), row({y}));
  };
  EXPECT_TRUE(std::isinf(product(INFINITY, 1, false).v(0, 0)));
  EXPECT_EQ(product(INFINITY, 1, false).e(0, 0), 0);
  EXPECT_TRUE(std::isinf(product(INFINITY, 1, true).e(0, 0)));
  EXPECT_TRUE(std::isinf(product(1, -INFINITY, true).e(0, 0)));
  EXPECT_TRUE(std::isinf(product(0x1.ffep127, 0, true).e(0, 0)));
  EXPECT_LE(product(0x1.ffcp127, 0x1p-20, true).e(0, 0), 0x1p108 * 18 * 0x1p-24);  // gamma(5) and 3 * 2^-22
  EXPECT_TRUE(std::isnan(product(NAN, 1, true).v(0, 0)));
  EXPECT_EQ(product(NAN, 1, true).e(0, 0), 0);
}

const RoundingModel kHalf{.unit_roundoff = 0x1p-11, .least_normal = 0x1p-25, .largest = 65504};

bool is_open(const M& x) { return std::isinf(x.e(0, 0)); }

TEST(Bound, WhatMayOverflowOnTheWayIsOpenAndNothingElse) {
  const B a(kHalf);
  const auto column = [&](const std::vector<double>& values) { return a.transpose(row(values)); };
  EXPECT_TRUE(is_open(a.sum(row({4e4}), row({4e4}), row({-4e4})))) << "4e4 + 4e4 comes first";
  EXPECT_FALSE(is_open(a.sum(row({4e4}), row({2e4}), row({-4e3}))));
  EXPECT_TRUE(is_open(a.sum(row({4e4}), row({4e4}), row({-INFINITY})))) << "inf - inf";
  EXPECT_EQ(a.sum(row({4e4}), row({-INFINITY})).v(0, 0), -INFINITY);
  EXPECT_TRUE(is_open(a.column_sums(column({4e4, -4e4}))));
  EXPECT_TRUE(is_open(a.product(row({300}), row({300}), row({1e-3})))) << "300 * 300 comes first";
  EXPECT_TRUE(is_open(a.product(row({300}), row({300}), row({0})))) << "inf * 0";
  EXPECT_FALSE(is_open(a.product(row({200}), row({300}))));
  EXPECT_TRUE(is_open(a.matmul(row({300, 300}), column({300, -300}))));
  EXPECT_FALSE(is_open(a.matmul(row({300, 300}), column({100, -100}))));
  EXPECT_TRUE(is_open(a.add_matmul(row({4e4}), row({200}), column({200}))));
  EXPECT_TRUE(is_open(a.add_matmul(row({-INFINITY}), row({300}), column({300}))));
  EXPECT_FALSE(is_open(a.add_matmul(row({2e4}), row({200}), column({200}))));
  EXPECT_TRUE(is_open(a.blend(row({0.5}), row({4e4}), row({-4e4})))) << "h - n";
  // Within its error.
  EXPECT_TRUE(is_open(a.sum(with_error({3e4}, 6e3), row({3e4}))));
  EXPECT_FALSE(is_open(a.sum(with_error({3e4}, 5e3), row({3e4}))));
}

TEST(Bound, WhatAnOpenElementEntersIsOpen) {
  const B a(kHalf);
  const M open = a.product(row({300, 0.5}), row({300, 0.5}));
  const M zero = a.zeros(2, 1), dot = a.matmul(open, zero);
  EXPECT_TRUE(is_open(dot)) << "0 * inf";
  EXPECT_TRUE(is_open(a.add_matmul(open, row({1}), row({1, 1}))));
  EXPECT_FALSE(std::isinf(a.add_matmul(open, row({1}), row({1, 1})).e(0, 1)));
  EXPECT_TRUE(is_open(a.product(open, row({0, 0}))));
  EXPECT_FALSE(std::isinf(a.product(open, row({0, 0})).e(0, 1)));
  for (const M& entered : {a.sum(open, open), a.sigmoid(open), a.tanh(open), a.relu(open), a.sigmoid_slope(open),
                           a.tanh_slope(open), a.where_positive(open, row({1, 1})), a.carried(open), a.negative(open),
                           a.where_positive(row({-1, -1}), open), a.blend(open, row({0, 0}), row({0, 0}))}) {
    EXPECT_TRUE(is_open(entered));
    EXPECT_FALSE(std::isinf(entered.e(0, 1)));
  }
  EXPECT_TRUE(std::isnan(a.product(open, row({NAN, 1})).v(0, 0)));
  EXPECT_EQ(a.product(open, row({NAN, 1})).e(0, 0), 0) << "a NaN comes out whatever it meets";
}

TEST(Bound, CarriedOverflowsWhereStorageDoes) {
  RoundingModel model = kFloat;
  model.carry_roundoff = 0x1p-11;
  model.carry_largest = 65504;
  const B a(model);
  EXPECT_TRUE(is_open(a.carried(row({65505}))));
  EXPECT_FALSE(is_open(a.carried(row({65504}))));
  EXPECT_EQ(a.carried(row({INFINITY})).v(0, 0), INFINITY);
  EXPECT_TRUE(is_open(a.add_matmul(row({-6e4}), row({300}), row({300}))));
  EXPECT_FALSE(is_open(a.matmul(row({300}), row({300}))));
}

TEST(Bound, DifferencesCountAsFactorsWithTheirTerms) {
  const B a(kHalf);
  const M g = row({500});
  EXPECT_TRUE(is_open(a.product(g, a.difference(row({200}), row({199.5}))))) << "500 * 200 - 500 * 199.5";
  EXPECT_FALSE(is_open(a.product(g, a.difference(row({100}), row({99.5})))));
  EXPECT_TRUE(is_open(a.product(row({4e4}), a.tanh_slope(row({0.9}))))) << "4e4 + 4e4 * 0.9";
  EXPECT_FALSE(is_open(a.product(row({3e4}), a.tanh_slope(row({0.9})))));
  EXPECT_FALSE(is_open(a.product(row({6e4}), a.sigmoid_slope(row({0.9})))));
}

TEST(Bound, AnInfinityTimesADifferenceIsOpenUnlessEveryFormIsANaN) {
  const B a(kFloat);
  const M g = row({INFINITY});
  for (const M& factor : {a.tanh_slope(row({0})), a.tanh_slope(row({-0.5})), a.sigmoid_slope(row({0.25})),
                          a.difference(row({1}), row({0})), a.difference(row({1}), row({0.5}))}) {
    EXPECT_TRUE(is_open(a.product(g, factor)));
    EXPECT_TRUE(is_open(a.product(factor, row({2}), g)));
  }
  for (const M& factor : {a.tanh_slope(row({-1})), a.sigmoid_slope(row({1})), a.difference(row({0}), row({0}))}) {
    EXPECT_TRUE(std::isnan(a.product(g, factor).v(0, 0)));
    EXPECT_EQ(a.product(g, factor).e(0, 0), 0);
  }
  EXPECT_EQ(a.product(g, row({-0.5})).v(0, 0), -INFINITY);
  EXPECT_EQ(a.product(g, row({-0.5})).e(0, 0), 0);
  EXPECT_TRUE(is_open(a.product(g, row({1e-30}), row({1e-30})))) << "1e-60 is 0";
}

TEST(Bound, WhatIsNotFiniteIsOpenBehindAChoice) {
  const B a(kFloat);
  const std::uint8_t dropped = 0, kept = 1;
  const M none = a.dropout_mask(&dropped, 0.5, 1, 1), twice = a.dropout_mask(&kept, 0.5, 1, 1);
  for (const double value : {INFINITY, -INFINITY, NAN}) {
    EXPECT_TRUE(is_open(a.product(row({value}), none))) << value;
    EXPECT_FALSE(is_open(a.product(row({value}), twice))) << value;
    EXPECT_TRUE(is_open(a.where_positive(row({-1}), row({value})))) << value;
    EXPECT_FALSE(is_open(a.where_positive(row({1}), row({value})))) << value;
  }
  EXPECT_EQ(a.product(row({5}), none).e(0, 0), 0);
  EXPECT_TRUE(is_open(a.relu(row({NAN}))));
}

TEST(Bound, GammaEndsWhereTheModelEnds) {
  EXPECT_TRUE(std::isinf(RoundingModel{.unit_roundoff = 0x1p-11}.gamma(2048)));
  EXPECT_TRUE(std::isfinite(RoundingModel{.unit_roundoff = 0x1p-11}.gamma(2047)));
}

TEST(Bound, CarryAddsOneStorageRounding) {
  RoundingModel model = kFloat;
  model.carry_roundoff = 0x1p-11;
  model.carry_underflow = 0x1p-25;
  const B a(model);
  EXPECT_EQ(a.carried(row({2, 0})).e(0, 0), 2 * 0x1p-11 + 0x1p-25);
  EXPECT_EQ(a.carried(row({2, 0})).e(0, 1), 0);
}

}  // namespace
}  // namespace backgauge
