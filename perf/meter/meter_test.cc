// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/meter.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

TEST(Timing, MoreThreadsThanAllowedAreSeenByTheTimeTheyTake) {
  EXPECT_EQ(too_many_threads({.seconds = 0.1, .cpu_seconds = 0.14}, 1), "");
  EXPECT_EQ(too_many_threads({.seconds = 0.1, .cpu_seconds = 0.19}, 1), "keeps 1.9 CPUs busy with num_threads = 1");
  EXPECT_EQ(too_many_threads({.seconds = 0.1, .cpu_seconds = 0.2}, 2), "");
  EXPECT_EQ(too_many_threads({.seconds = 0.1, .cpu_seconds = 0.4}, 2), "keeps 4.0 CPUs busy with num_threads = 2");
  EXPECT_EQ(too_many_threads({.seconds = 0.004, .cpu_seconds = 0.4}, 1), "") << "too short to measure";
}

}  // namespace
}  // namespace backgauge
