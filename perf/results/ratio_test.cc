// SPDX-License-Identifier: Apache-2.0
// Ratios that samples can carry, and the range of a median.
#include "perf/results/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "perf/meter/statistics.h"
#include "perf/results/results.h"
#include "perf/results/text_table.h"

namespace backgauge {
namespace {

// Samples of which `busy` of nine are disturbed; those of b take `factor` times as long.
WorkloadResult sampled(int busy, double factor, double spread, std::int64_t waits) {
  WorkloadResult result;
  result.workload = {"case", {}};
  for (const char* name : {"a", "b"}) {
    Entry& entry = result.entries.emplace_back();
    entry.implementation = name;
    for (int round = 0; round < 9; ++round) {
      const double own = std::string_view(name) == "b" ? factor * std::pow(spread, round % 3) : 1;
      Sample sample{.round = round, .seconds = 30 * own, .disturbed = round < busy};
      sample.cpu_seconds = own;
      sample.waits = waits;
      entry.samples.push_back(sample);
    }
  }
  return result;
}

TEST(RatioTest, SamplesThatCarryNoRatioHaveNone) {
  const auto between = [](const WorkloadResult& result, int threads) {
    return ratio_of(result.entries[0], result.entries[1], threads);
  };
  EXPECT_DOUBLE_EQ(between(sampled(4, 2, 1, 1), 1).value, 0.5);
  EXPECT_EQ(between(sampled(5, 2, 1, 1), 1).missing, "disturbed");
  EXPECT_EQ(between(sampled(5, 2, 1, 0), 2).missing, "disturbed");
  EXPECT_EQ(between(sampled(0, 2, 2, 1), 1).missing, "spread");
  // One thread that never waits: its CPU time is its own, whatever others do.
  EXPECT_DOUBLE_EQ(between(sampled(9, 2, 1, 0), 1).value, 0.5);
  const WorkloadResult disturbed = sampled(9, 40, 1, 5);
  BenchResult all;
  all.workloads.push_back(disturbed);
  EXPECT_NE(workload_text(disturbed).find(" disturbed\n"), std::string::npos) << workload_text(disturbed);
  EXPECT_EQ(workload_text(disturbed).find("0.025"), std::string::npos) << workload_text(disturbed);
  EXPECT_NE(closing_text(all).find("1 left out"), std::string::npos) << closing_text(all);
}

TEST(StatisticsTest, TheMedianLiesBetweenTheseTwo) {
  const auto of = [](int count) {
    std::vector<double> numbers;
    for (int k = 1; k <= count; ++k) numbers.push_back(k);
    return median_range(numbers);
  };
  // From tables of the sign test, for 5, 6, 9 and 20 numbers.
  EXPECT_EQ(of(5).low, 1);
  EXPECT_EQ(of(6).low, 1);
  EXPECT_EQ(of(9).low, 2);
  EXPECT_EQ(of(9).high, 8);
  EXPECT_EQ(of(20).low, 6);
}

}  // namespace
}  // namespace backgauge
