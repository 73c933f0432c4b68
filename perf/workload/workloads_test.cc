// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/workloads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "perf/workload/cost_model.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

class Suites : public testing::Test {
 protected:
  void SetUp() override {
    folder = shapes_folder(error);
    ASSERT_EQ(error, "");
  }
  std::vector<Workload> of(const std::string& name) {
    std::vector<Workload> out = suite(folder, name, error);
    EXPECT_EQ(error, "") << name;
    return out;
  }
  std::string error;
  fs::path folder;
};

TEST_F(Suites, EachHasCasesAndSaysHowWorkIsCounted) {
  const std::vector<std::string> names = suite_names(folder);
  for (const char* expected : {"quick", "nine", "tf-grid", "deepbench", "gnmt", "rnnt"}) {
    EXPECT_NE(std::ranges::find(names, expected), names.end()) << expected;
  }
  for (const std::string& name : names) {
    EXPECT_FALSE(of(name).empty()) << name;
    std::string file = name;
    std::ranges::replace(file, '-', '_');
    std::ifstream stream(folder / ("shapes_" + file + ".txt"));
    std::string head;
    for (std::string line; std::getline(stream, line) && line.starts_with('#');) head += line;
    EXPECT_NE(head.find("Work:"), head.npos) << name;
  }
}

TEST_F(Suites, HaveAsManyCasesAsTheirSources) {
  EXPECT_EQ(of("nine").size(), 9u);
  EXPECT_EQ(of("tf-grid").size(), 36u * 4);
  EXPECT_EQ(of("deepbench").size(), 53u);
  EXPECT_EQ(of("deepbench-inference").size(), 69u + 3 - 1);  // one is in both sets
  EXPECT_EQ(of("rnnt").size(), 5u);
  EXPECT_EQ(of("haste").size(), 180u);
  EXPECT_EQ(of("gpu").size(), 21u * 2 + 3);
}

TEST_F(Suites, AllIsEveryCaseOnce) {
  std::set<std::string> all, each;
  const std::vector<Workload> together = of(kAllSuites);
  for (const Workload& workload : together) all.insert(to_string(workload.c));
  EXPECT_EQ(all.size(), together.size());
  for (const std::string& name : suite_names(folder)) {
    for (const Workload& workload : of(name)) each.insert(to_string(workload.c));
  }
  EXPECT_EQ(all, each);
}

// The oracle takes seconds per GFLOP, and --quick has one minute.
TEST_F(Suites, QuickIsQuick) {
  double flops = 0;
  for (const Workload& workload : of("quick")) flops += work_of(workload.c).flops;
  EXPECT_LT(flops, 1e9);
}

TEST_F(Suites, UnknownOnesAndBadLinesAreRefused) {
  EXPECT_TRUE(suite(folder, "nobody", error).empty());
  EXPECT_NE(error.find("deepbench"), error.npos) << error;
  const fs::path bad = fs::path(testing::TempDir()) / ("bad_shapes_" + std::to_string(getpid()));
  fs::create_directories(bad);
  std::ofstream(bad / "shapes_bad_one.txt") << "# Work: none\nlstm_block_cell_grad b3\n";
  EXPECT_EQ(suite_names(bad), std::vector<std::string>{"bad-one"});
  EXPECT_TRUE(suite(bad, "bad-one", error).empty());
  EXPECT_NE(error.find("shapes_bad_one.txt:2"), error.npos) << error;
}

TEST(Workload, NameIsOneWordWithoutChecksum) {
  std::string error;
  const Workload workload{"nine", *parse_case("lstm_block_cell_grad b3i5h7 dt=f32 data=strat:0x1 chk=00ff", error)};
  EXPECT_EQ(workload.name(), "nine/lstm_block_cell_grad,b3i5h7,peep=0,dt=f32,data=strat:0x1");
}

}  // namespace
}  // namespace backgauge
