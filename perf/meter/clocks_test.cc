// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/clocks.h"

#include <gtest/gtest.h>

#include "perf/meter/doorbell.h"

namespace backgauge {
namespace {

std::vector<TwoClocks> calls(double inside, double outside) { return std::vector<TwoClocks>(8, {inside, outside}); }

bool differ(const std::vector<TwoClocks>& given, bool on_device = false) {
  return confirmed_time(given, on_device, false).dispute.has_value();
}

TEST(Clocks, AgreeWhereTheJudgeIsWokenLate) {
  const double late = seconds_of_a_turn();
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 0.05);
  for (const double seconds : {1e-6, 1e-3, 1.0}) {
    EXPECT_FALSE(differ(calls(seconds, seconds + late)));
    EXPECT_FALSE(differ(calls(seconds, seconds * 1.04 + late)));
    EXPECT_DOUBLE_EQ(confirmed_time(calls(seconds, seconds + late), false, false).seconds, seconds);
  }
}

TEST(Clocks, OneCallInWhichNothingIsDoneConfirmsNoClock) {
  std::vector<TwoClocks> given = calls(1e-3, 3e-3 + 2 * seconds_of_a_turn());
  EXPECT_TRUE(differ(given));
  given.back().outside = given.back().inside = 1e-6;
  EXPECT_TRUE(differ(given));
  for (std::size_t k = 0; k < 5; ++k) given[k].outside = 1e-3;  // the judge was woken late three times
  EXPECT_FALSE(differ(given));
}

TEST(Clocks, CallsInWhichSomebodyWaitedDoNotCount) {
  std::vector<TwoClocks> given(8, {1e-3, 21e-3, 20e-3});
  const Confirmed unknown = confirmed_time(given, false, false);
  ASSERT_TRUE(unknown.dispute);
  EXPECT_EQ(unknown.dispute->seconds, 0);
  EXPECT_EQ(unknown.dispute->text, "in each of its calls, its process or the judge waited for a processor");
  EXPECT_FALSE(confirmed_time(given, false, true).dispute);  // nothing can be hidden from the processor time
  given[3] = {3e-3, 3e-3, 0};
  EXPECT_DOUBLE_EQ(confirmed_time(given, false, false).seconds, 3e-3);
}

TEST(Clocks, NoLoadExplainsProcessorTime) {
  std::vector<TwoClocks> given(8, {1e-3, 21e-3, 20e-3, 3e-3});
  given[3] = {1e-3, 1e-3, 0, 1e-3};
  const Confirmed slow = confirmed_time(given, false, false);
  ASSERT_TRUE(slow.dispute);
  EXPECT_GT(slow.dispute->seconds, 1e300);
  EXPECT_NE(
      slow.dispute->text.find("says that a call took 1e+03 us, by the processor time that it used it was 2.75e+03"),
      std::string::npos)
      << slow.dispute->text;
  EXPECT_FALSE(differ(std::vector<TwoClocks>(8, {1e-3, 1e-3, 0, 1e-3 + 2 * seconds_of_a_turn()})));
  EXPECT_FALSE(differ(given, true));  // a device computes while its host does something else
}

TEST(Clocks, ATimeThatIsHiddenIsSeen) {
  const double late = seconds_of_a_turn();
  EXPECT_TRUE(differ(calls(1e-3, 1.1e-3 + 2 * late)));
  EXPECT_TRUE(differ(calls(1e-6, 1e-3 + 2 * late)));
}

TEST(Clocks, AnEndThatIsAnnouncedTooEarlyIsSeen) { EXPECT_TRUE(differ(calls(1e-3, 0.5e-3))); }

TEST(Clocks, WhatDelayCouldExplainIsMeasured) {
  const auto dispute = confirmed_time(calls(1e-3, 5.0), false, false).dispute;
  ASSERT_TRUE(dispute);
  EXPECT_NEAR(dispute->seconds, 4.99895, 1e-9);
  EXPECT_GE(longest_turn(), seconds_of_a_turn());
  EXPECT_LT(longest_turn(), dispute->seconds);
  const auto early = confirmed_time(calls(1e-3, 0.5e-3), false, false).dispute;
  ASSERT_TRUE(early);
  EXPECT_GT(early->seconds, 1e300);
}

TEST(Clocks, ADeviceHasTimeToBegin) {
  EXPECT_FALSE(differ(calls(1e-5, 5e-5), true));
  EXPECT_TRUE(differ(calls(1e-5, 1e-3 + 2 * seconds_of_a_turn()), true));
}

}  // namespace
}  // namespace backgauge
