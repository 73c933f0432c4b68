// SPDX-License-Identifier: Apache-2.0
// The rounds, and the contestants that are timed in them.
#include "perf/run/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "perf/results/context.h"
#include "perf/results/google_benchmark.h"
#include "perf/results/samples.h"
#include "perf/results/text_table.h"
#include "perf/run/testing/actors.h"
#include "perf/workload/cost_model.h"
#include "perf/workload/workloads.h"

namespace backgauge {
namespace {

TEST_F(BenchTest, RoundsGoForthAndBack) {
  for (const char* name : {"a", "b", "c"}) add(name);
  const BenchResult result = run();
  std::string order;
  std::vector<std::string> rounds;
  for (const std::string& one : asked) {
    if (one.starts_with("time ")) order += one.substr(5);
  }
  // Each is tried, a runs against itself, then come the rounds. Disturbed samples are repeated, so repeats count once.
  order.erase(std::unique(order.begin(), order.end()), order.end());
  EXPECT_EQ(order, "abcabcbabca");
  for (const Entry& entry : result.workloads.at(0).entries) EXPECT_EQ(entry.samples.size(), 3u);
  EXPECT_TRUE(result.noise_known);
  EXPECT_EQ(result.noise, 0);
}

TEST_F(BenchTest, JudgedBeforeTheFirstTimingAndAfterTheLast) {
  add("a");
  run();
  EXPECT_EQ(asked.front(), "judge a");
  EXPECT_EQ(asked.back(), "again a");
}

TEST_F(BenchTest, TheFastestOfAllLaunchesIsTimed) {
  options.launches = 3;
  add("a").luck = {2, 1, 3};
  add("b").luck = {1, 1, 1};
  const BenchResult result = run();
  EXPECT_EQ(std::ranges::count(asked, "launch a"), 3);
  EXPECT_EQ(std::ranges::count(asked, "launch b"), 3);
  const Entry& entry = result.workloads[0].entries[0];
  EXPECT_DOUBLE_EQ(entry.seconds(), 0.02);
  ASSERT_EQ(entry.launches.size(), 3u);
  EXPECT_DOUBLE_EQ(entry.launches[0], 0.04);
  EXPECT_DOUBLE_EQ(entry.launches[2], 0.06);
  EXPECT_NE(samples_of(result.workloads[0]).find("\"launch_seconds\":[0.04,0.02,0.06]"), std::string::npos);
  EXPECT_NE(heading_text(machine, {}, limits, options).find("best of 3 processes"), std::string::npos);
}

TEST_F(BenchTest, EveryBlockLaunchesAnotherContestantFirst) {
  options.launches = 1;
  options.blocks = 4;
  for (const char* name : {"a", "b", "c"}) add(name);
  run();
  std::string order;
  for (const std::string& one : asked) {
    if (one.starts_with("launch ")) order += one.substr(7);
  }
  EXPECT_EQ(order, "abcbcacababc");
}

TEST_F(BenchTest, EveryBlockHasProcessesOfItsOwnWhichAreJudgedAtItsEnd) {
  options.blocks = 3;
  options.rounds = 2;
  add("a");
  add("b");
  const BenchResult result = run();
  EXPECT_EQ(std::ranges::count(asked, "launch a"), 3);
  EXPECT_EQ(std::ranges::count(asked, "again b"), 3);
  const std::vector<Sample>& samples = result.workloads[0].entries[1].samples;
  ASSERT_EQ(samples.size(), 6u);
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(samples[static_cast<std::size_t>(k)].round, k);
    EXPECT_EQ(samples[static_cast<std::size_t>(k)].block, k / 2);
  }
  EXPECT_NE(samples_of(result.workloads[0]).find("\"block\":2,\"cpu_seconds\":0.01,\"waits\":0,\"instructions\":null"),
            std::string::npos)
      << samples_of(result.workloads[0]);
}

TEST_F(BenchTest, WhatIsWrongAfterAnyBlockHasNoTime) {
  options.blocks = 3;
  add("a").after = {Status::kFailed, "wrong", {}};
  const BenchResult result = run();
  EXPECT_FALSE(result.workloads[0].entries[0].timed());
  EXPECT_EQ(std::ranges::count(asked, "again a"), 1);
}

// A sample with inputs that were used before could be answered from a cache.
TEST_F(BenchTest, EverySampleHasInputsOfItsOwnTheSameForAll) {
  for (const char* name : {"a", "b"}) add(name);
  run();
  std::vector<std::string> of_a, of_b, before;
  for (const std::string& one : asked) {
    if (one.starts_with("turn a")) of_a.push_back(one.substr(7));
    if (one.starts_with("turn b")) of_b.push_back(one.substr(7));
  }
  for (std::size_t k = 1; k < of_b.size(); ++k) EXPECT_NE(of_b[k], of_b[k - 1]);
  for (const std::string seed : {"1", "2", "3"}) {
    EXPECT_NE(std::ranges::find(of_a, seed), of_a.end());
    EXPECT_NE(std::ranges::find(of_b, seed), of_b.end());
  }
}

TEST_F(BenchTest, WhatCannotBeIsMarkedAndNotCompared) {
  add("a", 0.02);
  add("b", 1e-9);  // 416 bytes at 416 GB/s, where reading and copying together reach 20
  limits.read = limits.copy;
  options.sample_seconds = 1e-9;
  const BenchResult result = run();
  const Entry& entry = result.workloads[0].entries[1];
  EXPECT_FALSE(entry.timed());
  EXPECT_EQ(entry.word(), "IMPLAUSIBLE");
  EXPECT_NE(workload_text(result.workloads[0]).find("IMPLAUSIBLE: 0.001 us"), std::string::npos)
      << workload_text(result.workloads[0]);
  EXPECT_NE(closing_text(result).find("b: 0 of 1 workloads timed\n"), std::string::npos) << closing_text(result);
  EXPECT_NE(samples_of(result.workloads[0]).find("\"verdict\":\"IMPLAUSIBLE\""), std::string::npos);
  const auto runs = google_runs(result);
  EXPECT_TRUE(runs.back().error_occurred);
  EXPECT_TRUE(runs.back().error_message.starts_with("IMPLAUSIBLE: ")) << runs.back().error_message;
}

TEST_F(BenchTest, WhatIsWrongHasNoTime) {
  for (const Status status : {Status::kFailed, Status::kMistrusted, Status::kSkipped, Status::kBroken}) {
    contestants.clear();
    asked.clear();
    add("a").before = {status, "so", {}};
    add("b");
    const BenchResult result = run();
    EXPECT_EQ(std::ranges::count(asked, "time a"), 0);
    EXPECT_EQ(std::ranges::count(asked, "launch a"), 0);
    EXPECT_FALSE(result.workloads[0].entries[0].timed());
    EXPECT_EQ(result.workloads[0].entries[0].verdict.status, status);
    EXPECT_TRUE(result.workloads[0].entries[1].timed());
  }
}

TEST_F(BenchTest, WhatIsMistrustedHasATimeOnRequestThatSaysSo) {
  options.mistrusted = true;
  add("a").before = {Status::kMistrusted, "so", {}};
  add("b").before = {Status::kFailed, "so", {}};
  const BenchResult result = run();
  EXPECT_EQ(result.workloads[0].entries[0].samples.size(), 3u);
  EXPECT_FALSE(result.workloads[0].entries[1].timed());
  EXPECT_NE(workload_text(result.workloads[0]).find("MISTRUSTED: so"), std::string::npos);
  EXPECT_EQ(google_runs(result).front().counters.at("mistrusted").value, 1);
}

TEST_F(BenchTest, WhatIsUnjudgedIsTimedMarkedAndNotCompared) {
  options.unjudged = true;
  add("a").before = {Status::kFailed, "wrong", {}};  // never asked
  add("b", 0.04).after = {Status::kFailed, "wrong", {}};
  add("c").refusal = Verdict{Status::kSkipped, "does not claim it", {}};
  const BenchResult result = run();
  EXPECT_EQ(std::ranges::count_if(asked,
                                  [](const std::string& one) {
                                    return one.starts_with("judge ") || one.starts_with("again ") ||
                                           one.starts_with("turn ");
                                  }),
            0);
  for (const std::size_t k : {0u, 1u}) {
    const Entry& entry = result.workloads[0].entries[k];
    EXPECT_TRUE(entry.timed());
    EXPECT_EQ(entry.word(), "UNJUDGED");
    EXPECT_TRUE(std::isnan(entry.error_over_bound()));
  }
  EXPECT_EQ(std::ranges::count(asked, "launch c"), 0);
  const std::string table = workload_text(result.workloads[0]), closing = closing_text(result);
  EXPECT_NE(table.find("     unjudged         -\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("0.500"), std::string::npos) << table;
  EXPECT_NE(table.find("c              SKIPPED: does not claim it"), std::string::npos) << table;
  EXPECT_NE(closing.find("b: 1 of 1 workloads timed, not judged\n"), std::string::npos) << closing;
  EXPECT_NE(heading_text(machine, {}, limits, options).find("nothing was judged"), std::string::npos);
  const auto runs = google_runs(result);
  EXPECT_EQ(runs.front().counters.at("unjudged").value, 1);
  EXPECT_FALSE(runs.front().counters.contains("error_over_bound"));
  EXPECT_NE(samples_of(result.workloads[0]).find(R"("verdict":"UNJUDGED","reason":"","error_over_bound":null)"),
            std::string::npos)
      << samples_of(result.workloads[0]);
}

TEST_F(BenchTest, WhatEndsUnjudgedIsBroken) {
  options.unjudged = true;
  add("a").ends = [] { return std::ranges::count(asked, "time b") >= 5; };
  add("b");
  const BenchResult result = run();
  EXPECT_EQ(result.workloads[0].entries[0].word(), "BROKEN");
  EXPECT_FALSE(result.workloads[0].entries[0].timed());
  EXPECT_EQ(result.workloads[0].entries[1].samples.size(), 3u);
}

TEST_F(BenchTest, LongCallsAreSampledInTheFirstRoundsOnly) {
  options.rounds = 5;
  add("long", 3).first_call = 3;
  add("short", 0.5);
  const BenchResult result = run();
  EXPECT_EQ(result.workloads[0].entries[0].samples.size(), 3u);
  EXPECT_EQ(result.workloads[0].entries[1].samples.size(), 5u);
  EXPECT_EQ(result.workloads[0].entries[0].samples[0].calls, 1);
}

TEST_F(BenchTest, WhatTurnsWrongLosesItsTime) {
  add("a").after = {Status::kFailed, "x is wrong", {}};
  const BenchResult result = run();
  EXPECT_FALSE(result.workloads[0].entries[0].timed());
  EXPECT_EQ(result.workloads[0].entries[0].verdict.reason, "after the last timing: x is wrong");
}

TEST_F(BenchTest, WhoEndsIsBrokenAndTheOthersGoOn) {
  add("a").ends = [] { return std::ranges::count(asked, "time b") >= 5; };  // four calls are trials
  add("b");
  const BenchResult result = run();
  EXPECT_EQ(result.workloads[0].entries[0].verdict.status, Status::kBroken);
  EXPECT_FALSE(result.workloads[0].entries[0].timed());
  EXPECT_EQ(result.workloads[0].entries[1].samples.size(), 3u);
}

TEST_F(BenchTest, SamplesLastAsLongAsAsked) {
  add("a", 0.001);
  const BenchResult result = run();
  const Sample& sample = result.workloads[0].entries[0].samples[0];
  EXPECT_GE(sample.seconds * static_cast<double>(sample.calls), options.sample_seconds);
  EXPECT_DOUBLE_EQ(sample.seconds, 0.001);
  EXPECT_EQ(sample.run.iterations, sample.calls);
}

TEST_F(BenchTest, ColdCallsStandAlone) {
  options.cold = true;
  add("a", 0.001);
  const BenchResult result = run();
  EXPECT_EQ(result.workloads[0].entries[0].samples[0].calls, 1);
}

TEST_F(BenchTest, TooMuchWorkIsSkippedWithItsReason) {
  add("a");
  options.most_gflop = 1e-6;
  const BenchResult result = run({workload("block_lstm_grad_v2 t5b3i6h7 dt=f32 data=strat:0x1"),
                                  workload("block_lstm_grad_v2 t5b1i100000h300000 dt=f32 data=strat:0x1")});
  EXPECT_TRUE(asked.empty() || std::ranges::count(asked, "judge a") == 0);
  EXPECT_EQ(result.workloads[0].entries[0].verdict.status, Status::kSkipped);
  EXPECT_NE(result.workloads[0].entries[0].verdict.reason.find("--max-work"), std::string::npos);
}

TEST_F(BenchTest, TooMuchMemoryIsSkippedWithItsReason) {
  add("a");
  options.most_gflop = 1e12;
  const BenchResult result = run({workload("block_lstm_grad_v2 t1b1i1000000h1000000 dt=f32 data=strat:0x1")});
  EXPECT_EQ(std::ranges::count(asked, "judge a"), 0);
  EXPECT_NE(result.workloads[0].entries[0].verdict.reason.find("GB of memory"), std::string::npos);
}

TEST_F(BenchTest, StopsWhenAskedTo) {
  add("a");
  options.stop = [] { return std::ranges::count(asked, "time a") >= 3; };
  const BenchResult result = run({workload(), workload("lstm_block_cell_grad b2i3h5 dt=f32 data=strat:0x1")});
  EXPECT_EQ(result.workloads.size(), 1u);
  EXPECT_EQ(result.planned, 2u);
}

TEST_F(BenchTest, NothingStartsAfterTheDeadline) {
  add("a");
  options.deadline = std::chrono::steady_clock::now();
  EXPECT_TRUE(run().workloads.empty());
}

TEST_F(BenchTest, InputsThatCannotBeMadeAreSkipped) {
  add("a");
  const BenchResult result = run({workload("lstm_block_cell_grad b2i3h4 dt=f32 data=strat:0x1 chk=0000")});
  EXPECT_EQ(result.workloads[0].entries[0].verdict.status, Status::kSkipped);
  EXPECT_NE(result.workloads[0].entries[0].verdict.reason.find("chk=0000"), std::string::npos);
}

TEST(BenchOptions, NoneOfTheNineShapesIsTooMuchToBeJudged) {
  std::string error;
  const std::filesystem::path folder = shapes_folder(error);
  for (const char* name : {"nine", "nine-cudnn"}) {
    const std::vector<Workload> workloads = suite(folder, name, error);
    EXPECT_FALSE(workloads.empty()) << error;
    for (const Workload& each : workloads) {
      EXPECT_LE(work_of(each.c).flops, kGiga * BenchOptions().most_gflop) << each.name();
    }
  }
}

}  // namespace
}  // namespace backgauge
