// SPDX-License-Identifier: Apache-2.0
// Tests that a value has an infinite variance if it, or a value that it depends on, may overflow within 8 deviations,
// and not otherwise: bounds.md 3.11.
#include "reference/arithmetic/variance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace backgauge {
namespace {

const RoundingModel kHalf{.unit_roundoff = 0x1p-11, .least_normal = 0x1p-25, .largest = 65504};
using M = Variance::Matrix;

M row(const std::vector<double>& values) {
  return Variance(kHalf).input(values.data(), 1, static_cast<Index>(values.size()));
}
M with_deviation(double value, double deviation) {
  M out = row({value});
  out.q += deviation * deviation;
  return out;
}
bool is_open(const M& x) { return x.q(0, 0) == std::numeric_limits<double>::infinity(); }

TEST(Variance, IsInfiniteWhereSomethingMayOverflowOnTheWay) {
  const Variance a(kHalf);
  const auto column = [&](const std::vector<double>& values) { return a.transpose(row(values)); };
  EXPECT_TRUE(is_open(a.sum(row({4e4}), row({4e4}), row({-4e4}))));
  EXPECT_FALSE(is_open(a.sum(row({4e4}), row({2e4}), row({-4e3}))));
  EXPECT_TRUE(is_open(a.sum(with_deviation(3e4, 6e3 / 8), row({3e4}))));
  EXPECT_FALSE(is_open(a.sum(with_deviation(3e4, 5e3 / 8), row({3e4}))));
  EXPECT_TRUE(is_open(a.column_sums(column({4e4, -4e4}))));
  EXPECT_TRUE(is_open(a.product(row({300}), row({300}), row({0}))));
  EXPECT_FALSE(is_open(a.product(row({200}), row({300}))));
  EXPECT_TRUE(is_open(a.product(row({500}), a.difference(row({200}), row({199.5})))));
  EXPECT_TRUE(is_open(a.product(row({4e4}), a.tanh_slope(row({0.9})))));
  EXPECT_FALSE(is_open(a.product(row({3e4}), a.tanh_slope(row({0.9})))));
  EXPECT_TRUE(is_open(a.matmul(row({300, 300}), column({300, -300}))));
  EXPECT_FALSE(is_open(a.matmul(row({300, 300}), column({100, -100}))));
  EXPECT_TRUE(is_open(a.add_matmul(row({4e4}), row({200}), column({200}))));
  EXPECT_TRUE(is_open(a.blend(row({0.5}), row({4e4}), row({-4e4}))));
  EXPECT_FALSE(is_open(a.blend(row({0.5}), row({1e4}), row({-1e4}))));
}

TEST(Variance, OfWhatAnOpenElementEntersIsInfinite) {
  const Variance a(kHalf);
  const M open = a.product(row({300, 0.5}), row({300, 0.5}));
  EXPECT_TRUE(is_open(a.matmul(open, a.zeros(2, 1))));
  EXPECT_TRUE(is_open(a.add_matmul(open, row({1}), row({1, 1}))));
  for (const M& entered :
       {a.sum(open, open), a.product(open, row({0, 0})), a.sigmoid(open), a.tanh(open), a.relu(open),
        a.sigmoid_slope(open), a.tanh_slope(open), a.where_positive(open, row({1, 1})), a.carried(open),
        a.where_positive(row({-1, -1}), open), a.blend(open, row({0, 0}), row({0, 0}))}) {
    EXPECT_TRUE(is_open(entered));
    EXPECT_TRUE(std::isfinite(entered.q(0, 1)));
  }
  RoundingModel narrow = kHalf;
  narrow.largest = 1e30;
  narrow.operand_largest = 65504;
  EXPECT_TRUE(is_open(Variance(narrow).matmul(row({7e4}), a.zeros(1, 1))));
  EXPECT_FALSE(is_open(Variance(narrow).matmul(row({6e4}), row({6e4}))));
}

}  // namespace
}  // namespace backgauge
