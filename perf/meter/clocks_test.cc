// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/clocks.h"

#include <gtest/gtest.h>

#include "perf/meter/doorbell.h"

namespace backgauge {
namespace {

std::vector<TwoClocks> calls(double inside, double outside) { return std::vector<TwoClocks>(8, {inside, outside}); }

TEST(Clocks, AgreeWhereTheJudgeIsWokenLate) {
  const double late = seconds_of_a_turn();
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 0.05);
  for (const double seconds : {1e-6, 1e-3, 1.0}) {
    EXPECT_FALSE(clocks_differ(calls(seconds, seconds + late), false));
    EXPECT_FALSE(clocks_differ(calls(seconds, seconds * 1.04 + late), false));
  }
}

TEST(Clocks, ABusyMachineIsNotAccused) {
  std::vector<TwoClocks> given = calls(1e-3, 3e-3 + 2 * seconds_of_a_turn());
  EXPECT_TRUE(clocks_differ(given, false));
  given.back().outside = 1e-3;  // the judge was woken in time once
  EXPECT_FALSE(clocks_differ(given, false));
}

TEST(Clocks, TimeInAQueueIsNobodys) {
  EXPECT_FALSE(clocks_differ(std::vector<TwoClocks>(8, {1e-3, 21e-3, 20e-3}), false));
  EXPECT_FALSE(clocks_differ(std::vector<TwoClocks>(8, {11e-3, 21e-3, 20e-3}), false));  // half of it while it ran
  EXPECT_TRUE(clocks_differ(std::vector<TwoClocks>(8, {1e-3, 22e-3 + 2 * seconds_of_a_turn(), 20e-3}), false));
}

TEST(Clocks, ATimeThatIsHiddenIsSeen) {
  const double late = seconds_of_a_turn();
  EXPECT_TRUE(clocks_differ(calls(1e-3, 1.1e-3 + 2 * late), false));
  EXPECT_TRUE(clocks_differ(calls(1e-6, 1e-3 + 2 * late), false));
}

TEST(Clocks, AnEndThatIsAnnouncedTooEarlyIsSeen) { EXPECT_TRUE(clocks_differ(calls(1e-3, 0.5e-3), false)); }

TEST(Clocks, WhatDelayCouldExplainIsMeasured) {
  const auto dispute = clocks_differ(calls(1e-3, 5.0), false);
  ASSERT_TRUE(dispute);
  EXPECT_NEAR(dispute->seconds, 4.999, 1e-9);
  EXPECT_GE(longest_turn(), seconds_of_a_turn());
  EXPECT_LT(longest_turn(), dispute->seconds);
  const auto early = clocks_differ(calls(1e-3, 0.5e-3), false);
  ASSERT_TRUE(early);
  EXPECT_GT(early->seconds, 1e300);
}

TEST(Clocks, ADeviceHasTimeToBegin) {
  EXPECT_FALSE(clocks_differ(calls(1e-5, 5e-5), true));
  EXPECT_TRUE(clocks_differ(calls(1e-5, 1e-3 + 2 * seconds_of_a_turn()), true));
}

}  // namespace
}  // namespace backgauge
