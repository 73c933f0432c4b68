// SPDX-License-Identifier: Apache-2.0
// The disturbed runs are what evaluating each of them by itself would give, and as far apart as variance.h says.
#include "reference/arithmetic/noise.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

const RoundingModel kFloat{.unit_roundoff = 0x1p-24, .least_normal = 0x1p-126};
constexpr Index kRuns = 5;

class NoiseOfRuns : public testing::Test {
 protected:
  Noisy certain(Index rows, Index cols) const { return {Plane<double>::Random(rows, cols), {}}; }
  // Runs that differ by so much; the operations under test must carry them through.
  Noisy spread(Index rows, Index cols, double off = 0.25) const {
    Noisy out = certain(rows, cols);
    out.runs = out.v.replicate(kRuns, 1) + off * Plane<double>::Random(kRuns * rows, cols);
    return out;
  }
  static Plane<double> run(const Noisy& x, Index r) {
    return Eigen::Map<const Plane<double>>(x.run(r), x.rows(), x.cols());
  }
  template <class Operation>
  void expect_each_run(Operation operation, const std::vector<const Noisy*>& operands, double tolerance) const {
    const Noisy out = operation(noise_, operands);
    std::vector<Plane<double>> planes(operands.size());
    for (Index r = -1; r < kRuns; ++r) {
      std::vector<const Plane<double>*> at;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        planes[k] = r < 0 ? operands[k]->v : run(*operands[k], r);
        at.push_back(&planes[k]);
      }
      const Plane<double> want = operation(Exact<double>(), at), got = r < 0 ? out.v : run(out, r);
      ASSERT_EQ(got.rows(), want.rows());
      ASSERT_EQ(got.cols(), want.cols());
      EXPECT_LE((got - want).abs().maxCoeff(), tolerance) << "run " << r;
    }
  }
  Noise noise_{kFloat, kRuns, 1};
};

TEST_F(NoiseOfRuns, EveryOperationCarriesEveryRun) {
  const Noisy x = spread(3, 4), y = spread(3, 4), z = certain(3, 4), w = spread(4, 2), v = certain(4, 2);
  constexpr double kSomeRoundings = 20 * 0x1p-24;
  const auto check = [&](auto operation, const std::vector<const Noisy*>& operands, double tolerance) {
    expect_each_run(operation, operands, tolerance);
  };
  for (const Noisy* left : {&x, &z}) {
    for (const Noisy* right : {&y, &z}) {
      check([](const auto& a, const auto& m) { return a.sum(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
      check([](const auto& a, const auto& m) { return a.product(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
      check([](const auto& a, const auto& m) { return a.where_positive(*m[0], *m[1]); }, {left, right}, 0);
      check([](const auto& a, const auto& m) { return a.beside(m); }, {left, right}, 0);
      check([](const auto& a, const auto& m) { return a.below(m); }, {left, right}, 0);
      check([](const auto& a, const auto& m) { return a.blend(*m[0], *m[1], *m[0]); }, {left, right}, kSomeRoundings);
    }
    for (const Noisy* right : {&w, &v}) {
      check([](const auto& a, const auto& m) { return a.matmul(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
    }
    check([](const auto& a, const auto& m) { return a.column_sums(*m[0]); }, {left}, kSomeRoundings);
    check([](const auto& a, const auto& m) { return a.transpose(*m[0]); }, {left}, 0);
    check([](const auto& a, const auto& m) { return a.rows(*m[0], 1, 2); }, {left}, 0);
    check([](const auto& a, const auto& m) { return a.columns(*m[0], 1, 2); }, {left}, 0);
    check([](const auto& a, const auto& m) { return a.repeat_row(a.rows(*m[0], 1, 1), 3); }, {left}, 0);
    check([](const auto& a, const auto& m) { return a.negative(a.clip(a.relu(*m[0]), 0.5)); }, {left}, 0);
    check([](const auto& a, const auto& m) { return a.sigmoid_slope(*m[0]); }, {left}, kSomeRoundings);
    check([](const auto& a, const auto& m) { return a.tanh_slope(*m[0]); }, {left}, kSomeRoundings);
  }
}

TEST_F(NoiseOfRuns, ActivationsFarAndNearAreTheFunctionsThemselves) {
  const RoundingModel silent{.unit_roundoff = 0x1p-80};
  noise_ = Noise(silent, kRuns, 1);
  constexpr double kTwoRoundings = 0x1p-51;
  for (const double off : {0x1p-14, 0.25}) {  // expanded, and evaluated
    const Noisy x = spread(40, 3, off);
    expect_each_run([](const auto& a, const auto& m) { return a.sigmoid(*m[0]); }, {&x}, kTwoRoundings);
    expect_each_run([](const auto& a, const auto& m) { return a.tanh(*m[0]); }, {&x}, kTwoRoundings);
  }
}

TEST(Noise, RoundsAsFarAsTheVarianceSays) {
  constexpr Index kMany = 20000;
  const RoundingModel half{.unit_roundoff = 0x1p-11, .least_normal = 0x1p-25};
  const Noise noise(half, kMany, 3);
  const Variance variance(half);
  const Plane<double> x = Plane<double>::Random(1, 30), y = Plane<double>::Random(30, 1);
  const auto check = [](const Noisy& got, const Spread& want) {
    const Plane<double> off = got.runs - got.v.replicate(kMany, 1);
    // A number uniform in [-1, 1) has a variance of 1/3.
    const double ratio = off.square().mean() / (want.q.mean() / 3);
    EXPECT_NEAR(ratio, 1, 0.05);
  };
  check(noise.matmul({x, {}}, {y, {}}),
        variance.matmul({x, Plane<double>::Zero(1, 30)}, {y, Plane<double>::Zero(30, 1)}));
  check(noise.column_sums({y, {}}), variance.column_sums({y, Plane<double>::Zero(30, 1)}));
  const Plane<double> zero = Plane<double>::Zero(1, 1), tiny = Plane<double>::Constant(1, 1, 0x1p-20);
  const Noisy factor{tiny, {}};
  const Spread same{tiny, zero};
  check(noise.product(factor, factor), variance.product(same, same));  // underflows
}

TEST(Noise, NarrowsAnOperandAlikeInEveryProduct) {
  const RoundingModel narrow{.operand_roundoff = 0x1p-8};
  const Noise noise(narrow, 4, 3);
  const Noisy x{Plane<double>::Constant(1, 1, 0.7), {}}, y{Plane<double>::Constant(1, 1, 1.3), {}};
  const Noisy once = noise.matmul(x, y), again = noise.matmul(x, y);
  ASSERT_EQ(once.runs.size(), 4);
  for (Index r = 0; r < 4; ++r) {
    EXPECT_EQ(once.runs(r), again.runs(r));
    EXPECT_NE(once.runs(r), once.v(0));
  }
  EXPECT_NE(once.runs(0), once.runs(1));
}

TEST(Uniform, IsUniformAndRepeats) {
  Uniform one(7), two(7), other(8);
  double sum = 0, squares = 0;
  bool differs = false;
  for (int round = 0; round < 1000; ++round) {
    const double *a = one.next(200), *b = two.next(200), *c = other.next(200);
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(a[k], b[k]);
      EXPECT_EQ(one.of(a[k], 1), two.of(a[k], 1));
      EXPECT_LE(std::abs(one.of(a[k], 1)), 1);
      ASSERT_LT(std::abs(a[k]), 1.0000001);
      differs = differs || a[k] != c[k];
      sum += a[k];
      squares += a[k] * a[k];
    }
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(sum / 200000, 0, 6 * std::sqrt(1.0 / 3 / 200000));
  EXPECT_NEAR(squares / 200000, 1.0 / 3, 6 * std::sqrt(4.0 / 45 / 200000));
}

}  // namespace
}  // namespace backgauge
