// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties/judge/compare/verdict_text.h"

namespace backgauge {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kAllowed = 0x1p-20;  // for a want of 1: resolution 2^20

Wanted wanted(std::vector<long double> value, std::vector<double> allowed) {
  return {"x_grad", {static_cast<std::int64_t>(value.size())}, std::move(value), std::move(allowed)};
}

TensorReport judge(long double want, double allowed, double got, backgauge_dtype dtype = BACKGAUGE_FLOAT32) {
  return compare(wanted({want}, {allowed}), {{got}}, {}, dtype, {});
}

TEST(Compare, PassesExactlyOnTheBoundAndFailsOneUlpBeyond) {
  for (const double sign : {1.0, -1.0}) {
    for (const double want : {1.0, -1.0}) {
      const double edge = want + sign * kAllowed;
      EXPECT_EQ(judge(static_cast<long double>(want), kAllowed, edge).bad, 0);
      EXPECT_EQ(judge(static_cast<long double>(want), kAllowed, edge).max_ratio, 1.0);
      const TensorReport beyond = judge(static_cast<long double>(want), kAllowed, std::nextafter(edge, sign * 2));
      EXPECT_EQ(beyond.bad, 1);
      EXPECT_GT(beyond.max_ratio, 1.0);
    }
  }
}

TEST(Compare, ARatioJustAboveOneIsNotReportedAsOne) {
  const TensorReport report = judge(1 + 0x1p-62L, 1, 0);
  EXPECT_EQ(report.bad, 1);
  EXPECT_GT(report.max_ratio, 1.0);
}

TEST(Compare, NanNeverPassesForAFiniteWant) {
  for (const double nan : {kNan, -kNan, std::nan("0x123")}) {
    for (const double allowed : {0.0, kAllowed, 1e300, kInf}) {
      const TensorReport report = judge(1, allowed, nan);
      EXPECT_EQ(report.bad, 1) << allowed;
      EXPECT_EQ(report.nonfinite, 1);
      EXPECT_FALSE(std::isnan(report.max_ratio));
    }
  }
}

TEST(Compare, WantedNanAndInfinitiesMustBeTheSame) {
  const double values[] = {kNan, kInf, -kInf, 0, 1e30};
  for (int want = 0; want < 3; ++want) {
    for (int got = 0; got < 5; ++got) {
      const TensorReport report = judge(static_cast<long double>(values[want]), kAllowed, values[got]);
      EXPECT_EQ(report.bad, want == got ? 0 : 1) << want << got;
      EXPECT_EQ(report.nonfinite, want == got ? 0 : 1);
      EXPECT_EQ(report.judged, 1);
      EXPECT_EQ(judge(static_cast<long double>(values[want]), kInf, values[got]).judged, 0);
    }
  }
}

// Its bound alone overflows: it is not judged, and counts as an element that proves nothing.
TEST(Compare, AFiniteElementWithoutABoundIsCounted) {
  for (const double got : {1.0, 0.0, kInf}) {
    const TensorReport report = judge(1, kInf, got);
    EXPECT_EQ(report.bad, 0);
    EXPECT_EQ(report.judged, 0);
    EXPECT_EQ(report.unbounded, 1);
    EXPECT_TRUE(report.vacuous);
  }
  EXPECT_EQ(judge(static_cast<long double>(kNan), kInf, 1).unbounded, 0);
}

TEST(Compare, InfinityPassesOnlyWhereTheBoundReachesBeyondTheDtype) {
  EXPECT_EQ(judge(65504, 16, kInf, BACKGAUGE_HALF).bad, 0);
  EXPECT_EQ(judge(65504, 16, -kInf, BACKGAUGE_HALF).nonfinite, 1);
  EXPECT_EQ(judge(65488, 16, kInf, BACKGAUGE_HALF).nonfinite, 1);  // the bound ends on the largest number
  EXPECT_EQ(judge(-70000, 40, -kInf, BACKGAUGE_HALF).bad, 0);
  EXPECT_EQ(judge(-70000, 40, 65504, BACKGAUGE_HALF).bad, 1);
  EXPECT_EQ(judge(70000, 40, 65504, BACKGAUGE_HALF).bad, 1);
  EXPECT_EQ(judge(65520, 40, 65504, BACKGAUGE_HALF).bad, 0);
  EXPECT_EQ(judge(70000, 40, kInf, BACKGAUGE_FLOAT32).nonfinite, 1);
  EXPECT_EQ(judge(1e308L * 10, 1e300, kInf, BACKGAUGE_FLOAT64).bad, 0);
}

TEST(Compare, DeterminedZerosTakeEitherSignAndNothingElse) {
  for (const double zero : {0.0, -0.0}) {
    EXPECT_EQ(judge(0, 0, zero).bad, 0);
    EXPECT_EQ(judge(-0.0L, 0, zero).bad, 0);
  }
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(judge(0, 0, least).bad, 1);
  EXPECT_EQ(judge(0, 0, least).max_ratio, kInf);
  EXPECT_EQ(judge(2, 0, 2).bad, 0);
  EXPECT_EQ(judge(2, 0, std::nextafter(2, 3)).bad, 1);
}

TEST(Compare, TinyAndHugeBoundsNeitherOverflowNorVanish) {
  const double least = std::numeric_limits<double>::denorm_min(), largest = std::numeric_limits<double>::max();
  EXPECT_EQ(judge(0, least, least, BACKGAUGE_FLOAT64).bad, 0);
  EXPECT_EQ(judge(0, least, 2 * least, BACKGAUGE_FLOAT64).max_ratio, 2.0);
  EXPECT_EQ(judge(static_cast<long double>(-largest), least, largest, BACKGAUGE_FLOAT64).bad, 1);
  EXPECT_EQ(judge(1, largest, 2, BACKGAUGE_FLOAT64).bad, 0);
  EXPECT_EQ(judge(std::numeric_limits<long double>::max(), largest, 2, BACKGAUGE_FLOAT64).bad, 1);
}

TEST(Compare, AnUnwrittenElementIsBadWhateverIsWanted) {
  for (const double want : {1.0, 0.0, kNan, kInf}) {
    for (const double allowed : {0.0, kAllowed, kInf}) {
      const std::uint8_t flag = 1;
      const TensorReport report =
          compare(wanted({static_cast<long double>(want)}, {allowed}), {{want}}, {&flag, 1}, BACKGAUGE_FLOAT32, {});
      EXPECT_EQ(report.bad, 1);
      EXPECT_EQ(report.unwritten, 1);
    }
  }
}

TEST(Compare, EmptyTensorsAreRightAndNotVacuous) {
  const TensorReport report = compare(wanted({}, {}), {}, {}, BACKGAUGE_FLOAT32, {});
  EXPECT_EQ(report.bad, 0);
  EXPECT_EQ(report.judged, 0);
  EXPECT_EQ(report.worst, -1);
  EXPECT_FALSE(report.vacuous);
}

TEST(Compare, NamesTheWorstElement) {
  const Wanted want{"x_grad", {2, 2}, {1, 1, 1, 1}, {kAllowed, kAllowed, kAllowed, kAllowed}};
  const std::vector<double> off{1 + kAllowed / 2, 1 + 2 * kAllowed, 1 + 8 * kAllowed, 1};
  TensorReport report = compare(want, off, {}, BACKGAUGE_FLOAT32, {});
  EXPECT_EQ(report.worst, 2);
  EXPECT_EQ(report.bad, 2);
  EXPECT_EQ(report.max_ratio, 8.0);
  EXPECT_EQ(report.got, 1 + 8 * kAllowed);
  const std::vector<double> with_nan{1, 1 + 8 * kAllowed, 1, kNan};
  report = compare(want, with_nan, {}, BACKGAUGE_FLOAT32, {});
  EXPECT_EQ(report.worst, 3);
  EXPECT_EQ(report.max_ratio, 8.0);
  const std::vector<std::uint8_t> unwritten{1, 0, 0, 0};
  EXPECT_EQ(compare(want, with_nan, unwritten, BACKGAUGE_FLOAT32, {}).worst, 0);
}

TEST(Compare, AFailureAnywhereShows) {
  constexpr std::size_t kElements = 67;
  const Wanted want = wanted(std::vector<long double>(kElements, 1), std::vector<double>(kElements, kAllowed));
  for (std::size_t k = 0; k < kElements; ++k) {
    std::vector<double> got(kElements, 1);
    got[k] += 3 * kAllowed;
    const TensorReport report = compare(want, got, {}, BACKGAUGE_FLOAT32, {});
    EXPECT_EQ(report.bad, 1);
    EXPECT_EQ(report.worst, static_cast<std::int64_t>(k));
  }
}

TEST(Resolution, IsTheMedianOfWhatIsNotDetermined) {
  const Wanted want = wanted({0, 0, 0, 0, 8, 4, 2, 0, static_cast<long double>(kNan)}, {0, 0, 0, 0, 1, 1, 1, 1, kInf});
  EXPECT_EQ(resolution(want).median, 2);  // of 8 4 2 0, the lower middle
  EXPECT_FALSE(resolution(want).all_determined);
  EXPECT_TRUE(resolution(wanted({0, 0}, {0, 0})).all_determined);
}

bool vacuous(const Wanted& want, backgauge_dtype dtype = BACKGAUGE_FLOAT32, const Declared& declared = {}) {
  const std::vector<double> got(want.value.begin(), want.value.end());
  return compare(want, got, {}, dtype, declared).vacuous;
}

TEST(Resolution, WideBoundsAreVacuous) {
  EXPECT_FALSE(vacuous(wanted({1000}, {1})));
  EXPECT_TRUE(vacuous(wanted({999}, {1})));
  EXPECT_FALSE(vacuous(wanted({20}, {1}), BACKGAUGE_HALF));
  EXPECT_TRUE(vacuous(wanted({19}, {1}), BACKGAUGE_HALF));
  EXPECT_FALSE(vacuous(wanted({4}, {1}), BACKGAUGE_HALF, {.accuracy_class = BACKGAUGE_CLASS_B}));
  EXPECT_TRUE(vacuous(wanted({3.9L}, {1}), BACKGAUGE_HALF, {.accuracy_class = BACKGAUGE_CLASS_A_PRIME}));
  EXPECT_TRUE(vacuous(wanted({999}, {1}), BACKGAUGE_FLOAT64, {.numerical_contract = BACKGAUGE_FP32_TF32}));
  EXPECT_FALSE(vacuous(wanted({20}, {1}), BACKGAUGE_FLOAT32, {.numerical_contract = BACKGAUGE_FP32_TF32}));
}

TEST(Resolution, ZerosOutsideTheContractProveNothingAndDeterminedZerosDo) {
  EXPECT_TRUE(vacuous(wanted({0, 0, 0, 1}, {1e-30, 1e-30, 1e-30, 1e-7})));
  EXPECT_FALSE(vacuous(wanted({0, 0, 0, 1}, {0, 0, 0, 1e-7})));
  EXPECT_FALSE(vacuous(wanted({0, 0, 0}, {0, 0, 0})));
  EXPECT_TRUE(vacuous(wanted({1, 1, 1}, {kInf, kInf, 1e-7})));
  EXPECT_FALSE(vacuous(wanted({1, 1, 1}, {kInf, 1e-7, 1e-7})));
}

TEST(Compare, AFaultyBoundIsNamed) {
  EXPECT_EQ(faulty_bound(wanted({1, 1}, {0, kInf})), "");
  EXPECT_EQ(faulty_bound(wanted({1, 1}, {0, kNan})), "oracle: the bound of x_grad[1] is nan");
  EXPECT_EQ(faulty_bound(wanted({1, 1}, {-1e-30, 0})), "oracle: the bound of x_grad[0] is -1e-30");
  EXPECT_EQ(faulty_bound(wanted({static_cast<long double>(kNan)}, {kNan})), "");
  EXPECT_NE(faulty_bound({"x_grad", {3}, {1, 1}, {0, 0}}), "");
}

}  // namespace
}  // namespace backgauge
