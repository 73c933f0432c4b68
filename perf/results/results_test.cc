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

constexpr const char* kProducts = "block_lstm_grad_v2 t10b8i64h64 dt=f16 data=strat:0x1";  // 10.5 MFLOP

// A limit of the CPU says nothing about a call on a device.
TEST_F(ResultsTest, SharesOnADeviceAreOfItsLimits) {
  add("gpu", 0.02).on_device = true;
  limits.fma_f32 = 1e-3;
  BenchResult result = run({workload(), workload(kProducts)});
  for (const WorkloadResult& mine : result.workloads) {
    EXPECT_TRUE(mine.entries[0].on_device);
    EXPECT_EQ(mine.share_of_limit(mine.entries[0]), 0) << "no limit of the device is known";
    EXPECT_EQ(mine.entries[0].samples[0].fma_gflops, 0);
    EXPECT_EQ(mine.entries[0].doubt, "");
    EXPECT_EQ(workload_text(mine).find(" %"), std::string::npos) << workload_text(mine);
  }
  machine.device = device::Facts{};
  machine.device->l2_bytes = 1 << 20;
  limits.device = DeviceLimits{};
  limits.device->f16 = 2;
  limits.device->copy_l2 = 8;
  result = run({workload(), workload(kProducts)});
  const WorkloadResult &bytes = result.workloads[0], &products = result.workloads[1];
  EXPECT_DOUBLE_EQ(bytes.share_of_limit(bytes.entries[0]), 13.0 * 2 * 4 * 4 / 0.02 / 8e9);
  EXPECT_DOUBLE_EQ(products.share_of_limit(products.entries[0]), 10'485'760 / 0.02 / 2e9);
  const auto runs = google_runs(result);
  EXPECT_EQ(runs[0].counters.at("on_device").value, 1);
  EXPECT_NE(samples_of(products).find(R"("on_device":true)"), std::string::npos);
}

TEST_F(ResultsTest, WhatIsFasterThanItsLimitIsExplained) {
  add("gpu", 1e-6).on_device = true;
  machine.device = device::Facts{};
  limits.device = DeviceLimits{};
  limits.device->f16 = limits.device->f32 = limits.device->copy_memory = 1e-3;
  for (const auto& [line, on_gpu] :
       {std::pair{kProducts, "large product by cuBLASLt"},
        std::pair{"block_lstm_grad_v2 t10b8i64h64 dt=f32 data=strat:0x1", "products in TF32"},
        std::pair{"lstm_block_cell_grad b2i3h4 dt=f32 data=strat:0x1", "stay in the second level"}}) {
    const BenchResult result = run({workload(line)});
    const WorkloadResult& mine = result.workloads[0];
    EXPECT_NE(mine.entries[0].above_limit.find(on_gpu), std::string::npos) << mine.entries[0].above_limit;
    EXPECT_NE(workload_text(mine).find(on_gpu), std::string::npos) << workload_text(mine);
    EXPECT_NE(samples_of(mine).find("above_limit"), std::string::npos);
  }
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
