// SPDX-License-Identifier: Apache-2.0
// Every hostile implementation gets the verdict and the reason that its list names. This program is its own
// worker.
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "ci/proof/hostile_trial.h"
#include "ci/run/implementation/candidate.h"
#include "reference/contract/sanitized.h"

namespace backgauge::cli {
namespace {

class EveryHostile : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryHostile, IsFoundOut) {
  const saboteurs::Hostile& hostile = hostile_ones()[GetParam()];
  if (kSanitized && hostile.id == "allocates")
    GTEST_SKIP() << "a sanitizer reserves terabytes of address space, so that memory cannot be limited";
  if (kSanitized && hostile.trial == saboteurs::Hostile::Trial::kMemory)
    GTEST_SKIP() << "a sanitizer keeps freed memory";
  const HostileOutcome outcome = try_hostile(hostile);
  EXPECT_TRUE(outcome.detected) << hostile.id << ": " << outcome.verdict << "\nexpected: " << hostile.reason;
}

INSTANTIATE_TEST_SUITE_P(Suite, EveryHostile, testing::Range<std::size_t>(0, hostile_ones().size()),
                         [](const auto& each) { return hostile_ones()[each.param].id; });

class EveryTwin : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryTwin, IsNotAccused) {
  const saboteurs::Hostile& twin = twins_of_hostile_ones()[GetParam()];
  if (kSanitized && twin.trial == saboteurs::Hostile::Trial::kMemory) GTEST_SKIP() << "sanitizers keep freed memory";
  const HostileOutcome outcome = try_hostile(twin);
  EXPECT_TRUE(outcome.detected) << twin.id << ": " << outcome.verdict;
}

INSTANTIATE_TEST_SUITE_P(Suite, EveryTwin, testing::Range<std::size_t>(0, twins_of_hostile_ones().size()),
                         [](const auto& each) { return twins_of_hostile_ones()[each.param].id; });

TEST(Hostile, AreManyAndDiffer) {
  std::set<std::string> ids;
  for (const saboteurs::Hostile& hostile : hostile_ones()) ids.insert(hostile.id);
  EXPECT_GE(ids.size(), 24u);
  EXPECT_EQ(ids.size(), hostile_ones().size());
}

TEST(Hostile, TheirModelIsFoundToBeRight) {
  saboteurs::Hostile same{
      "plain", "the model of all",     saboteurs::Hostile::Trial::kCases, saboteurs::Hostile::Verdict::kFailed,
      "",      hostile_ones()[0].table};
  std::string error;
  const Candidate plain("plain");
  same.table = plain.table();
  const HostileOutcome outcome = try_hostile(same);
  EXPECT_FALSE(outcome.detected);
  EXPECT_EQ(outcome.verdict, "PASSED: ");
}

}  // namespace
}  // namespace backgauge::cli

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "worker") backgauge::cli::serve_as_worker({argv + 2, argv + argc});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
