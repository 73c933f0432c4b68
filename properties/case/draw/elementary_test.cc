// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/elementary.h"

#include <gtest/gtest.h>

#include <limits>

#include "properties/case/line/random.h"

namespace backgauge {
namespace {

// The accuracy that elementary.h promises.
constexpr double kAccuracy = 1e-15;

void expect_close(double got, long double want, double x) {
  EXPECT_LE(std::fabs(static_cast<long double>(got) - want), kAccuracy * std::fabs(want)) << "at " << x;
}

// Magnitudes from 2^-40 to 2^bits, either sign.
template <class Check>
void for_arguments(int bits, Check check) {
  const RandomStream stream(1, "arguments");
  for (int k = 0; k < 100000; ++k) {
    check(std::ldexp(stream.uniform(k) * stream.sign(k), static_cast<int>(stream.choice(k + 1, 41 + bits)) - 40));
  }
}

TEST(Elementary, ExpIsAccurate) {
  for_arguments(9, [](double x) { expect_close(portable::exp(x), std::exp(static_cast<long double>(x)), x); });
}

TEST(Elementary, SigmoidIsAccurate) {
  for_arguments(
      9, [](double x) { expect_close(portable::sigmoid(x), 1 / (1 + std::exp(-static_cast<long double>(x))), x); });
}

TEST(Elementary, TanhIsAccurate) {
  for_arguments(6, [](double x) { expect_close(portable::tanh(x), std::tanh(static_cast<long double>(x)), x); });
}

TEST(Elementary, EndsAreExact) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(1e300), inf);
  EXPECT_EQ(portable::exp(-1e300), 0);
  EXPECT_EQ(portable::sigmoid(0), 0.5);
  EXPECT_EQ(portable::sigmoid(inf), 1);
  EXPECT_EQ(portable::sigmoid(-inf), 0);
  EXPECT_EQ(portable::tanh(0), 0);
  EXPECT_EQ(portable::tanh(-inf), -1);
  EXPECT_EQ(portable::tanh(1e300), 1);
  for (const double value : {portable::exp(nan), portable::sigmoid(nan), portable::tanh(nan)}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace backgauge
