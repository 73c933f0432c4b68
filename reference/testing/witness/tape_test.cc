// SPDX-License-Identifier: Apache-2.0
// Every operation of the tape against its derivative in closed form, and what magnitudes promise.
#include "reference/testing/witness/tape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

namespace backgauge {
namespace {

template <class Scalar>
class TapeTest : public testing::Test {
 protected:
  using Value = Variable<Scalar>;

  // A handful of roundings, of numbers of order 1.
  static constexpr Scalar kTolerance = 16 * std::numeric_limits<Scalar>::epsilon();

  // The expression and its derivative at x.
  void expect(const std::function<Value(Value)>& expression, Scalar x, Scalar value, Scalar slope) {
    Tape<Scalar> tape;
    const Value at = tape.leaf(x);
    const Value result = expression(at);
    EXPECT_LE(std::abs(result.value() - value), kTolerance) << "at " << x;
    EXPECT_LE(std::abs(Derivatives<Scalar>(result).value(at) - slope), kTolerance) << "at " << x;
  }
};

using Scalars = testing::Types<double, long double>;
class ScalarNames {
 public:
  template <class Scalar>
  static std::string GetName(int) {
    return std::is_same_v<Scalar, double> ? "Double" : "LongDouble";
  }
};
TYPED_TEST_SUITE(TapeTest, Scalars, ScalarNames);

TYPED_TEST(TapeTest, ArithmeticByBothOperands) {
  Tape<TypeParam> tape;
  const auto a = tape.leaf(3), b = tape.leaf(-4);
  const Derivatives sum(a + b), difference(a - b), product(a * b), quotient(a / b);
  EXPECT_EQ((a + b).value(), -1);
  EXPECT_EQ((a - b).value(), 7);
  EXPECT_EQ((a * b).value(), -12);
  EXPECT_EQ((a / b).value(), TypeParam(-0.75));
  EXPECT_EQ(sum.value(a), 1);
  EXPECT_EQ(sum.value(b), 1);
  EXPECT_EQ(difference.value(a), 1);
  EXPECT_EQ(difference.value(b), -1);
  EXPECT_EQ(product.value(a), -4);
  EXPECT_EQ(product.value(b), 3);
  EXPECT_EQ(quotient.value(a), TypeParam(-0.25));
  EXPECT_EQ(quotient.value(b), TypeParam(-3) / 16);
}

TYPED_TEST(TapeTest, FunctionsHaveTheirSlopes) {
  for (const TypeParam x : {TypeParam(-2), TypeParam(-0.5), TypeParam(0), TypeParam(0.75), TypeParam(3)}) {
    const TypeParam cosh = std::cosh(x), s = 1 / (1 + std::exp(-x));
    this->expect([](auto v) { return exp(v); }, x / 2, std::exp(x / 2), std::exp(x / 2));
    this->expect([](auto v) { return tanh(v); }, x, std::tanh(x), 1 / (cosh * cosh));
    this->expect([](auto v) { return sigmoid(v); }, x, s, std::exp(-x) * s * s);
  }
}

TYPED_TEST(TapeTest, TanhAndSigmoidAreWhatTheirDefinitionsSay) {
  const auto one = [](auto v) { return v.tape->leaf(1); };
  const auto minus = [](auto v) { return v.tape->leaf(0) - v; };
  for (const TypeParam x : {TypeParam(-1.5), TypeParam(0.25), TypeParam(1)}) {
    Tape<TypeParam> tape;
    const auto at = tape.leaf(x);
    const auto s = sigmoid(at), t = tanh(at);
    this->expect([&](auto v) { return one(v) / (one(v) + exp(minus(v))); }, x, s.value(), Derivatives(s).value(at));
    this->expect([&](auto v) { return (exp(v) - exp(minus(v))) / (exp(v) + exp(minus(v))); }, x, t.value(),
                 Derivatives(t).value(at));
  }
}

TYPED_TEST(TapeTest, SaturationGivesExactLimits) {
  this->expect([](auto v) { return tanh(v); }, 100, 1, 0);
  this->expect([](auto v) { return tanh(v); }, -100, -1, 0);
  Tape<TypeParam> tape;
  const auto low = tape.leaf(-20000), high = tape.leaf(20000);
  EXPECT_EQ(sigmoid(low).value(), 0);
  EXPECT_EQ(sigmoid(high).value(), 1);
  EXPECT_EQ(Derivatives(sigmoid(low)).value(low), 0);
  EXPECT_EQ(Derivatives(sigmoid(high)).value(high), 0);
}

TYPED_TEST(TapeTest, ReluIsFlatUpToZero) {
  const auto function = [](auto v) { return relu(v); };
  this->expect(function, -2, 0, 0);
  this->expect(function, 0, 0, 0);
  this->expect(function, std::numeric_limits<TypeParam>::min(), std::numeric_limits<TypeParam>::min(), 1);
  this->expect(function, 2, 2, 1);
}

TYPED_TEST(TapeTest, GradientsPassStraightThroughAClip) {
  const auto clipped_square = [](auto v) { return straight_through(v * v, TypeParam(0.5)); };
  this->expect(clipped_square, 3, TypeParam(0.5), 6);
}

TYPED_TEST(TapeTest, SavedResultsRuleTheirSlopes) {
  this->expect([](auto v) { return saved_tanh(v, TypeParam(-0.5)); }, 7, TypeParam(-0.5), TypeParam(0.75));
  this->expect([](auto v) { return saved_sigmoid(v, TypeParam(0.25)); }, 7, TypeParam(0.25), TypeParam(0.1875));
}

TYPED_TEST(TapeTest, EveryUseOfAVariableCounts) {
  this->expect([](auto v) { return v * v * v + v; }, 2, 10, 13);
  Tape<TypeParam> tape;
  const auto used = tape.leaf(5), unused = tape.leaf(6);
  const Derivatives of(used + used);
  EXPECT_EQ(of.value(used), 2);
  EXPECT_EQ(of.value(unused), 0);
  EXPECT_EQ(of.magnitude(unused), 0);
}

TYPED_TEST(TapeTest, MagnitudesShowCancellation) {
  Tape<TypeParam> tape;
  const auto a = tape.leaf(3), b = tape.leaf(-3), c = tape.leaf(-2);
  const auto difference = a + b;
  EXPECT_EQ(difference.value(), 0);
  EXPECT_EQ(difference.magnitude(), 6);
  EXPECT_EQ((difference - c).magnitude(), 8);

  // By c: a + b, which cancels. By a: c, which does not.
  const Derivatives product(difference * c);
  EXPECT_EQ(product.value(c), 0);
  EXPECT_EQ(product.magnitude(c), 6);
  EXPECT_EQ(product.value(a), -2);
  EXPECT_EQ(product.magnitude(a), 2);

  // Two ways from a that cancel: a * c - c * a.
  const Derivatives ways(a * c - c * a);
  EXPECT_EQ(ways.value(a), 0);
  EXPECT_EQ(ways.magnitude(a), 4);
}

TYPED_TEST(TapeTest, MagnitudesOfFunctionsFollowTheErrorOfTheirOperand) {
  Tape<TypeParam> tape;
  const auto a = tape.leaf(1000), b = tape.leaf(-1000);
  const auto x = a + b;  // 0, of magnitude 2000
  EXPECT_EQ(tanh(x).magnitude(), 2000);
  EXPECT_EQ(sigmoid(x).magnitude(), TypeParam(0.5) + 500);
  EXPECT_EQ(exp(x).magnitude(), 2001);
  EXPECT_EQ(relu(x - tape.leaf(1)).magnitude(), 0);
  EXPECT_EQ(relu(x + tape.leaf(1)).magnitude(), 2001);
  EXPECT_EQ((tape.leaf(6) / (x + tape.leaf(2))).magnitude(), TypeParam(6) * 2002 / 4);

  // The slope of a saved result has two terms, the result is exact.
  const auto t = saved_tanh(x, TypeParam(-0.5));
  EXPECT_EQ(t.magnitude(), TypeParam(0.5));
  EXPECT_EQ(Derivatives(t).magnitude(x), TypeParam(1.25));
  const auto s = saved_sigmoid(x, TypeParam(0.25));
  EXPECT_EQ(Derivatives(s).magnitude(x), TypeParam(0.3125));
  EXPECT_EQ(straight_through(x, TypeParam(-3)).magnitude(), 3);
}

}  // namespace
}  // namespace backgauge
