// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/threads.h"

#include <gtest/gtest.h>

#include <vector>

namespace backgauge::cpu {
namespace {

TEST(Threads, SharesCoverEverythingOnce) {
  for (const int count : {1, 2, 3, 7, 64}) {
    for (const std::int64_t total : {0, 1, 6, 7, 8, 1000}) {
      Barrier barrier;
      std::int64_t next = 0;
      for (int index = 0; index < count; ++index) {
        const Range range = Member(index, count, barrier).share(total);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.end - range.begin, total / count + 1);
        next = range.end;
      }
      EXPECT_EQ(next, total);
    }
  }
}

// Every member passes a token on after each wait: it goes around only if all members are at the same step.
TEST(Threads, NobodyPassesAWaitBeforeTheLastHasCome) {
  constexpr int kRounds = 2000;
  for (const int size : {1, 2, 3, 7}) {
    std::vector<std::int64_t> token(static_cast<std::size_t>(size) + 1, 0);
    std::atomic<int> members{0};
    std::atomic<bool> out_of_step{false};
    run_team(size, [&](Member& member) {
      ++members;
      const auto own = static_cast<std::size_t>(member.index());
      const auto neighbour = static_cast<std::size_t>((member.index() + 1) % member.count());
      for (int round = 0; round < kRounds; ++round) {
        token[own] = round;
        member.wait();
        if (token[neighbour] != round) out_of_step = true;
        member.wait();
      }
    });
    EXPECT_EQ(members, size);
    EXPECT_FALSE(out_of_step) << size;
  }
}

TEST(Threads, TeamIsAsLargeAsTheWork) {
  EXPECT_EQ(team_size(8, 0, 100), 1);
  EXPECT_EQ(team_size(8, 99, 100), 1);
  EXPECT_EQ(team_size(8, 350, 100), 3);
  EXPECT_EQ(team_size(8, 1e300, 100), 8);
  EXPECT_EQ(team_size(INT32_MAX, 1e300, 100), 1024);
}

}  // namespace
}  // namespace backgauge::cpu
