// SPDX-License-Identifier: Apache-2.0
// The disturbed runs are what evaluating each of them by itself would give, and as far apart as variance.h says.
#include <gtest/gtest.h>

#include "reference/arithmetic/noisy_over_steps.h"

namespace backgauge {
namespace {

const RoundingModel kFloat{.unit_roundoff = 0x1p-24, .least_normal = 0x1p-126};
constexpr Index kRuns = 5;

class NoiseOfRuns : public testing::Test {
 protected:
  Noisy certain(Index rows, Index cols) const { return Plane<double>(Plane<double>::Random(rows, cols)); }
  // Runs that differ by so much; the operations under test must carry them through.
  Noisy spread(Index rows, Index cols, double off = 0.25) const {
    Noisy out = certain(rows, cols);
    out.unit = std::ldexp(off, -2);
    out.off = 4 * Plane<float>::Random(kRuns * rows, cols);
    return out;
  }
  template <class Operation>
  void expect_each_run(Operation operation, const std::vector<const Noisy*>& operands, double tolerance) const {
    const Noisy out = operation(noise_, operands);
    std::vector<Plane<double>> planes(operands.size());
    for (Index r = -1; r < kRuns; ++r) {
      std::vector<const Plane<double>*> at;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        planes[k] = r < 0 ? operands[k]->v() : operands[k]->run(r);
        at.push_back(&planes[k]);
      }
      const Plane<double> want = operation(Exact<double>(), at), got = r < 0 ? out.v() : out.run(r);
      ASSERT_EQ(got.rows(), want.rows());
      ASSERT_EQ(got.cols(), want.cols());
      EXPECT_LE((got - want).abs().maxCoeff(), tolerance) << "run " << r;
    }
  }
  Noise noise_{kFloat, kRuns, 1};
};

TEST_F(NoiseOfRuns, EveryOperationCarriesEveryRun) {
  const Noisy x = spread(3, 4), y = spread(3, 4), z = certain(3, 4), w = spread(4, 2), v = certain(4, 2);
  constexpr double kSomeRoundings = 20 * 0x1p-24, kFloat24 = 4 * 0x1p-24;  // of roundings, and of what a float keeps
  const auto check = [&](auto operation, const std::vector<const Noisy*>& operands, double tolerance) {
    expect_each_run(operation, operands, tolerance);
  };
  for (const Noisy* left : {&x, &z}) {
    for (const Noisy* right : {&y, &z}) {
      check([](const auto& a, const auto& m) { return a.sum(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
      check([](const auto& a, const auto& m) { return a.product(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
      check([](const auto& a, const auto& m) { return a.where_positive(*m[0], *m[1]); }, {left, right}, kFloat24);
      check([](const auto& a, const auto& m) { return a.beside(m); }, {left, right}, kFloat24);
      check([](const auto& a, const auto& m) { return a.below(m); }, {left, right}, kFloat24);
      check([](const auto& a, const auto& m) { return a.blend(*m[0], *m[1], *m[0]); }, {left, right}, kSomeRoundings);
    }
    for (const Noisy* right : {&w, &v}) {
      check([](const auto& a, const auto& m) { return a.matmul(*m[0], *m[1]); }, {left, right}, kSomeRoundings);
    }
    check([](const auto& a, const auto& m) { return a.column_sums(*m[0]); }, {left}, kSomeRoundings);
    check([](const auto& a, const auto& m) { return a.transpose(*m[0]); }, {left}, kFloat24);
    check([](const auto& a, const auto& m) { return a.rows(*m[0], 1, 2); }, {left}, kFloat24);
    check([](const auto& a, const auto& m) { return a.columns(*m[0], 1, 2); }, {left}, kFloat24);
    check([](const auto& a, const auto& m) { return a.repeat_row(a.rows(*m[0], 1, 1), 3); }, {left}, kFloat24);
    check([](const auto& a, const auto& m) { return a.negative(a.clip(a.relu(*m[0]), 0.5)); }, {left}, kFloat24);
    check([](const auto& a, const auto& m) { return a.sigmoid_slope(*m[0]); }, {left}, kSomeRoundings);
    check([](const auto& a, const auto& m) { return a.tanh_slope(*m[0]); }, {left}, kSomeRoundings);
  }
}

TEST_F(NoiseOfRuns, ActivationsFarAndNearAreTheFunctionsThemselves) {
  const RoundingModel silent{.unit_roundoff = 0x1p-80};
  noise_ = Noise(silent, kRuns, 1);
  for (const double off : {0x1p-14, 0.25}) {  // expanded, and evaluated; floats keep 24 bits of it
    const Noisy x = spread(40, 3, off);
    expect_each_run([](const auto& a, const auto& m) { return a.sigmoid(*m[0]); }, {&x}, off * 0x1p-22);
    expect_each_run([](const auto& a, const auto& m) { return a.tanh(*m[0]); }, {&x}, off * 0x1p-22);
  }
}

// The same as stacking the steps and multiplying once, and no step is lost whichever operand is off.
TEST_F(NoiseOfRuns, AProductOverStepsIsTheProductOfAllRows) {
  const Index rows = 150;  // the second step fills a queue
  for (const bool x_is_certain : {false, true}) {
    for (const bool y_is_certain : {false, true}) {
      const auto some = [&](bool is_certain, Index cols) {
        return std::make_shared<const Noisy>(is_certain ? certain(rows, cols) : spread(rows, cols));
      };
      ProductOverSteps<Noise> product(noise_);
      SumOverSteps<Noise> sum(noise_);
      std::vector<Plane<double>> want(kRuns, Plane<double>::Zero(4, 5)), want_sum(kRuns, Plane<double>::Zero(1, 4));
      for (const std::size_t step : {2, 0, 1}) {
        const auto x = some(x_is_certain, 4), y = some(y_is_certain, 5);
        product.add(step, x, y);
        sum.add(step, *x);
        for (Index r = 0; r < kRuns; ++r) {
          want[static_cast<std::size_t>(r)] += (x->run(r).matrix().transpose() * y->run(r).matrix()).array();
          want_sum[static_cast<std::size_t>(r)] += x->run(r).colwise().sum();
        }
      }
      const Noisy got = product.total(), got_sum = sum.total();
      // 450 terms below 1.6, each of them rounded, and floats of what is off.
      constexpr double kRoundings = 450 * 1.6 * 20 * 0x1p-24;
      for (Index r = 0; r < kRuns; ++r) {
        EXPECT_LE((got.run(r) - want[static_cast<std::size_t>(r)]).abs().maxCoeff(), kRoundings);
        EXPECT_LE((got_sum.run(r) - want_sum[static_cast<std::size_t>(r)]).abs().maxCoeff(), kRoundings);
      }
    }
  }
}

TEST(Noise, ARunIsTheSameWithOthersAndByItself) {
  const Noise all(kFloat, 4, 0), last(kFloat, 1, 3);
  const auto chain = [](const Noise& a) {
    const Noisy x = Plane<double>(Plane<double>::Constant(3, 5, 0.75)), y = Plane<double>(x.v().transpose());
    return a.product(a.tanh(a.matmul(a.product(x, x), y)), a.sum(a.ones(3, 3), a.ones(3, 3)));
  };
  const Noisy of_all = chain(all), of_last = chain(last);
  EXPECT_LE((of_all.run(3) - of_last.run(0)).abs().maxCoeff(), 0x1p-44);  // floats of 2^-20 at most
  EXPECT_GT((of_all.run(2) - of_last.run(0)).abs().maxCoeff(), 0x1p-26);
}

// Weights above 1 must not carry the unit away from what it measures, nor weights below 1.
TEST(Noise, StaysInRangeThroughManySteps) {
  for (const double weight : {0x1p-6, 0.5, 3.0}) {
    const Noise noise(kFloat, 3, 0);
    const Noisy weights = Plane<double>(weight * Plane<double>::Random(4, 4));
    Noisy x = Plane<double>(Plane<double>::Random(2, 4));
    for (int step = 0; step < 300; ++step) x = noise.product(noise.tanh(noise.matmul(x, weights)), noise.ones(2, 4));
    EXPECT_TRUE(x.off.isFinite().all()) << weight;
    for (Index k = 0; k < x.size(); ++k) {
      const double rounding = kFloat.unit_roundoff * std::abs(x.v().data()[k]) + kFloat.least_normal;
      EXPECT_GT(x.square_sum(k, 3), rounding * rounding * 0x1p-10) << weight;
    }
  }
}

TEST(Noise, UndisturbedValuesAreMadeOnceForAllRuns) {
  UndisturbedValues values;
  const Noise first(kFloat, 2, 0, nullptr, &values), second(kFloat, 2, 2, nullptr, &values), alone(kFloat, 2, 2);
  const Noisy x = Plane<double>(Plane<double>::Random(2, 3));
  const auto chain = [&](const Noise& a) { return a.kept(a.product(a.tanh(x), a.sigmoid(x))); };
  const Noisy of_first = chain(first), of_second = chain(second), of_alone = chain(alone);
  EXPECT_EQ(of_first.shared_v(), of_second.shared_v());
  EXPECT_TRUE((of_second.v() == of_alone.v()).all());
  EXPECT_TRUE((of_second.off == of_alone.off).all());
  EXPECT_FALSE((of_second.off == of_first.off).all());
}

TEST(Noise, FactorsWithoutUndisturbedValuesHaveTheSameProduct) {
  const Plane<double> x = Plane<double>::Random(2, 3), w = Plane<double>::Random(3, 4);
  std::vector<UndisturbedDot> dots;
  const Variance variance(kFloat, &dots);
  (void)variance.matmul({x, Plane<double>::Zero(2, 3)}, {w, Plane<double>::Zero(3, 4)});
  const Noise whole(kFloat, 3, 0, &dots), reduced(kFloat, 3, 0, &dots);
  const auto disturbed = [&](const Noise& a) { return a.product(Noisy(x), a.ones(2, 3)); };
  Noisy left = disturbed(reduced);
  reduced.only_left_factor(left);
  const Noisy right = reduced.right_factor(Noisy(w));
  EXPECT_FALSE(left.has_v() || right.has_v());
  const Noisy want = whole.matmul(disturbed(whole), Noisy(w)), got = reduced.matmul(left, right);
  EXPECT_EQ(got.shared_v(), want.shared_v());
  EXPECT_EQ(got.unit, want.unit);
  EXPECT_TRUE((got.off == want.off).all());
}

TEST(Noise, SquaresOfAGroupOfRunsCanBeAddedInPieces) {
  const Noise whole(kFloat, 3, 0), first(kFloat, 2, 0, nullptr, nullptr, OfOutputs::kDifferences),
      last(kFloat, 1, 2, nullptr, nullptr, OfOutputs::kDifferences);
  const Noisy x = Plane<double>(Plane<double>::Random(2, 3));
  const auto output = [&](const Noise& a) { return a.output(a.product(a.tanh(x), a.sigmoid(x))); };
  const Noisy of_whole = output(whole), of_first = output(first), of_last = output(last);
  for (Index k = 0; k < x.size(); ++k) {
    EXPECT_GT(of_whole.square_sum(k, 3), 0);
    EXPECT_EQ(of_whole.square_sum(k, 3), of_last.square_sum(k, 1, of_first.square_sum(k, 2)));
  }
}

TEST(Noise, OfAnOutputTheSquaresAreLeft) {
  const Noise noise(kFloat, 6, 0);
  const Noisy x = Plane<double>(Plane<double>::Random(2, 3)), y = noise.product(x, x), left = noise.output(y);
  EXPECT_EQ(left.off.size(), 0);
  for (Index k = 0; k < y.size(); ++k) {
    EXPECT_GT(left.square_sum(k, 6), 0);
    EXPECT_NEAR(left.square_sum(k, 6) / y.square_sum(k, 6), 1, 0x1p-20);
  }
}

TEST(Noise, RoundsAsFarAsTheVarianceSays) {
  constexpr Index kMany = 20000;
  const RoundingModel half{.unit_roundoff = 0x1p-11, .least_normal = 0x1p-25};
  const Noise noise(half, kMany, 3);
  const Variance variance(half);
  const Plane<double> x = Plane<double>::Random(1, 30), y = Plane<double>::Random(30, 1);
  const auto check = [](const Noisy& got, const WithVariance& want) {
    const Plane<double> off = got.unit * got.off.cast<double>();
    // A number uniform in [-1, 1) has a variance of 1/3.
    const double ratio = off.square().mean() / (want.q.mean() / 3);
    EXPECT_NEAR(ratio, 1, 0.05);
  };
  check(noise.matmul(x, y), variance.matmul({x, Plane<double>::Zero(1, 30)}, {y, Plane<double>::Zero(30, 1)}));
  check(noise.column_sums(y), variance.column_sums({y, Plane<double>::Zero(30, 1)}));
  const Plane<double> zero = Plane<double>::Zero(1, 1), tiny = Plane<double>::Constant(1, 1, 0x1p-20);
  const Noisy factor = tiny;
  const WithVariance same{tiny, zero};
  check(noise.product(factor, factor), variance.product(same, same));  // underflows
}

TEST(Noise, NarrowsAnOperandAlikeInEveryProduct) {
  const RoundingModel narrow{.operand_roundoff = 0x1p-8};
  const Noise noise(narrow, 4, 3);
  const Noisy x = Plane<double>(Plane<double>::Constant(1, 1, 0.7)),
              y = Plane<double>(Plane<double>::Constant(1, 1, 1.3));
  const Noisy once = noise.matmul(x, y), again = noise.matmul(x, y);
  ASSERT_EQ(once.off.size(), 4);
  for (Index r = 0; r < 4; ++r) {
    EXPECT_EQ(once.off(r), again.off(r));
    EXPECT_NE(once.off(r), 0);
  }
  EXPECT_NE(once.off(0), once.off(1));
}

TEST(Uniform, IsUniformAndRepeats) {
  Uniform one(7), two(7), other(8);
  double sum = 0, squares = 0;
  bool differs = false;
  for (int round = 0; round < 1000; ++round) {
    const float *a = one.next(200), *b = two.next(200), *c = other.next(200);
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(a[k], b[k]);
      EXPECT_EQ(one.of(a[k], 1), two.of(a[k], 1));
      EXPECT_LE(std::abs(one.of(a[k], 1)), 1);
      ASSERT_LE(std::abs(a[k]), 1);
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
