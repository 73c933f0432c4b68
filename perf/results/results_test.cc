// SPDX-License-Identifier: Apache-2.0
// Tests the results of the rounds: rates, the runs of Google Benchmark, and the lines of samples.
#include "perf/results/results.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "perf/results/google_benchmark.h"
#include "perf/results/samples.h"
#include "perf/results/text_table.h"
#include "perf/run/testing/actors.h"

namespace backgauge {
namespace {

class ResultsTest : public BenchTest {};

TEST_F(ResultsTest, RatesFollowFromTheMedian) {
  add("a", 0.02);
  add("b", 0.04);
  const BenchResult result = run();
  const WorkloadResult& mine = result.workloads[0];
  const double bytes = 13 * 2 * 4 * 4;
  EXPECT_DOUBLE_EQ(mine.gbps(mine.entries[0]), bytes / 0.02 / 1e9);
  EXPECT_DOUBLE_EQ(mine.share_of_limit(mine.entries[0]), bytes / 0.02 / 1e9 / 10);
  EXPECT_EQ(mine.gflops(mine.entries[0]), 0);
  EXPECT_EQ(mine.entries[0].error_over_bound(), 0.25);
  EXPECT_NE(workload_text(mine).find("0.500"), std::string::npos) << workload_text(mine);
  EXPECT_NE(closing_text(result).find("0.500 times as fast as a"), std::string::npos) << closing_text(result);
}

TEST_F(ResultsTest, GoogleRunsAreRepetitionsAndTheirAggregates) {
  add("a", 0.02);
  add("b").before = {Status::kFailed, "wrong", {}};
  const auto runs = google_runs(run());
  ASSERT_EQ(runs.size(), 3u + 4 + 1);
  EXPECT_EQ(runs[0].benchmark_name(), "a/case/lstm_block_cell_grad,b2i3h4,peep=0,dt=f32,data=strat:0x1");
  EXPECT_EQ(runs[2].repetition_index, 2);
  EXPECT_NEAR(runs[0].GetAdjustedRealTime(), 20, 1e-9);
  EXPECT_TRUE(runs[4].benchmark_name().ends_with("_median"));
  EXPECT_NEAR(runs[4].GetAdjustedRealTime(), 20, 1e-9);
  EXPECT_NEAR(runs[5].GetAdjustedRealTime(), 0, 1e-9);
  EXPECT_TRUE(runs[7].error_occurred);
  EXPECT_EQ(runs[7].error_message, "FAILED: wrong");
}

TEST_F(ResultsTest, SamplesAreWholeLines) {
  add("a");
  add("b").before = {Status::kBroken, "crash", {}};
  const BenchResult result = run();
  const std::string text = samples_of(result.workloads[0]);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 3 + 1);
  EXPECT_NE(text.find(R"("verdict":"BROKEN","reason":"crash")"), std::string::npos);
  EXPECT_EQ(samples_file_beside("x/RUN.json"), "x/RUN.samples.jsonl");
  EXPECT_EQ(samples_file_beside("run"), "run.samples.jsonl");
}

}  // namespace
}  // namespace backgauge
