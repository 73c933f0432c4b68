// SPDX-License-Identifier: Apache-2.0
// The facts reported with a run: statistics, the options of Google Benchmark, the build, the machine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "perf/machine/machine.h"
#include "perf/meter/statistics.h"
#include "perf/results/context.h"
#include "perf/results/google_benchmark.h"

namespace backgauge {
namespace {

TEST(Statistics, OfKnownNumbers) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
  EXPECT_EQ(standard_deviation({5}), 0);
  EXPECT_NEAR(disagreement({11, 11, 50}, {10, 10, 1}), 0.1, 1e-12);
}

class CacheBytes : public testing::Test {
 protected:
  CacheBytes() {
    add("index0", "1", "Data", "48K");
    add("index1", "1", "Instruction", "64K");
    add("index2", "2", "Unified", "2M");
  }
  ~CacheBytes() override { std::filesystem::remove_all(folder_); }

  void add(const char* index, const char* level, const char* type, const char* size) const {
    std::filesystem::create_directories(folder_ / index);
    std::ofstream(folder_ / index / "level") << level << '\n';
    std::ofstream(folder_ / index / "type") << type << '\n';
    std::ofstream(folder_ / index / "size") << size << '\n';
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("backgauge_caches_" + std::to_string(getpid()));
};

TEST_F(CacheBytes, AreThoseOfSysfs) {
  EXPECT_EQ(cache_bytes(1, folder_), 48 << 10);
  EXPECT_EQ(cache_bytes(2, folder_), 2 << 20);
  EXPECT_EQ(cache_bytes(3, folder_), 0);
}

TEST_F(CacheBytes, AreThoseOfTheLibraryWithoutSysfs) {
  EXPECT_EQ(cache_bytes(1, folder_ / "absent"), std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 0L));
  EXPECT_EQ(cache_bytes(3, folder_ / "absent"), std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
}

TEST(GoogleFlags, OwnOnesAndThoseOfTheLibrary) {
  std::string error;
  const GoogleFlags flags = take_google_flags(
      {"--benchmark_filter=gru|relu", "--benchmark_min_time=0.5", "--benchmark_repetitions=7", "--benchmark_color=no"},
      error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(flags.min_time, 0.5);
  EXPECT_EQ(flags.repetitions, 7);
  EXPECT_TRUE(flags.matches("case/x,mode=gru"));
  EXPECT_FALSE(flags.matches("case/x,mode=lstm"));
  EXPECT_TRUE(take_google_flags({"--benchmark_filter=-gru"}, error).matches("case/x,mode=lstm"));
  for (const char* wrong : {"--benchmark_filter=(", "--benchmark_min_time=x", "--benchmark_min_time=0",
                            "--benchmark_repetitions=-1", "--benchmark_format=xml", "--benchmark_bogus=1"}) {
    take_google_flags({wrong}, error);
    EXPECT_NE(error.find(wrong), std::string::npos) << wrong << ": " << error;
  }
}

TEST(Builds, ThoseWithoutMeaningAreRefused) {
  Build build{.version = "", .commit = "", .compiler = "", .type = "Release", .optimized = true, .sanitizers = ""};
  EXPECT_EQ(unfit_for_timing(build), "");
  build.type = "Debug";
  EXPECT_NE(unfit_for_timing(build), "");
  build.type = "RelWithDebInfo";
  build.sanitizers = "address,undefined";
  EXPECT_NE(unfit_for_timing(build), "");
  build.sanitizers = "";
  build.optimized = false;
  EXPECT_NE(unfit_for_timing(build), "");
}

TEST(Machines, HaveAnIdThatFollowsWhatMatters) {
  Machine machine = this_machine();
  EXPECT_EQ(machine.id(), this_machine().id());
  EXPECT_EQ(machine.id().size(), 16u);
  EXPECT_GE(machine.cores, 1);
  EXPECT_TRUE(machine.kernel.starts_with("Linux ")) << machine.kernel;
  const std::string id = machine.id();
  machine.l2_bytes += 1;
  EXPECT_NE(machine.id(), id);
}

TEST(Machines, NameTheGpusOfTheirHost) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("backgauge_gpus_" + std::to_string(getpid()));
  EXPECT_EQ(gpus_of_host(folder).models, "");
  EXPECT_EQ(gpus_of_host(folder).driver, "");
  for (const auto& [bus, model] :
       {std::pair{"0000:02:00.0", "NVIDIA H100 80GB HBM3"}, std::pair{"0000:01:00.0", "NVIDIA A100"}}) {
    std::filesystem::create_directories(folder / "gpus" / bus);
    std::ofstream(folder / "gpus" / bus / "information") << "Model: \t\t " << model << "\nIRQ:   \t\t 20\n";
  }
  std::ofstream(folder / "version")
      << "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (x@y)\n"
      << "GCC version:  gcc version 12.2.0\n";
  EXPECT_EQ(gpus_of_host(folder).models, "NVIDIA A100, NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpus_of_host(folder).driver, "580.95.05");
  std::filesystem::remove_all(folder);
}

TEST(Bandwidths, AreThoseOfTheLevelThatHoldsTheData) {
  Machine machine;
  machine.l1_bytes = 100;
  machine.l2_bytes = 1000;
  machine.l3_bytes = 10000;
  const Bandwidth bandwidth{.l1 = 1, .l2 = 2, .l3 = 3, .memory = 4};
  EXPECT_EQ(bandwidth.at(100, machine, 1), 1);
  EXPECT_EQ(bandwidth.at(101, machine, 1), 2);
  EXPECT_EQ(bandwidth.at(200, machine, 2), 1);  // each thread its half
  EXPECT_EQ(bandwidth.at(9999, machine, 1), 3);
  EXPECT_EQ(bandwidth.at(10001, machine, 2), 4);  // one for all
}

}  // namespace
}  // namespace backgauge
