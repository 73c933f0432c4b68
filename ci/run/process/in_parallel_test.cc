// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <stdexcept>
#include <vector>

namespace backgauge::cli {
namespace {

TEST(InParallel, EveryTurnOnce) {
  std::vector<std::atomic<int>> calls(1000);
  in_parallel(calls.size(), 3, [&](std::size_t turn, std::size_t) { ++calls[turn]; });
  for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1);
}

TEST(InParallel, WorkersWorkAtTheSameTime) {
  constexpr int kWorkers = 4;
  std::barrier all_here(kWorkers);  // passes only if as many calls are under way
  std::vector<std::size_t> of_turn(kWorkers);
  in_parallel(kWorkers, kWorkers, [&](std::size_t turn, std::size_t worker) {
    all_here.arrive_and_wait();
    of_turn[turn] = worker;
  });
  EXPECT_EQ(std::set<std::size_t>(of_turn.begin(), of_turn.end()), (std::set<std::size_t>{0, 1, 2, 3}));
}

TEST(InParallel, TheFirstExceptionEndsIt) {
  std::atomic<int> calls{0};
  const auto fail = [&](std::size_t, std::size_t) {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(in_parallel(1000, 2, fail), std::runtime_error);
  EXPECT_LE(calls, 2);
}

}  // namespace
}  // namespace backgauge::cli
