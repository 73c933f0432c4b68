// SPDX-License-Identifier: Apache-2.0
// Shrinking as users see it: the cases that known faults of the cell shrink to.
#include "ci/run/judge/shrinking.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ci/run/judge/judging.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/campaign/shrink/shrink.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

// Every thirteenth saboteur: all 800 take ten minutes, and these are enough for a median. Prime, because the list
// repeats with the ops and with the rules.
constexpr std::size_t kStride = 13;

std::int64_t largest_dimension(const Case& c) { return std::max({c.T, c.B, c.I, c.H}); }

TEST(Shrinking, LeadsKnownFaultsToSmallPlainCases) {
  const std::vector<Case> cases =
      plan({.tier = Tier::kSmoke,
            .seed = 1,
            .ops = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}});
  std::vector<std::int64_t> largest;
  std::ptrdiff_t plain = 0;
  int flaky = 0;
  for (std::size_t variant = 0; variant < saboteurs::variants().size(); variant += kStride) {
    if (saboteurs::variants()[variant].kind != saboteurs::Kind::kSaboteur) continue;
    const backgauge_implementation& implementation = saboteurs::implementation(variant);
    InProcessRunner runner(implementation);
    for (const Case& c : cases) {
      if (c.op != saboteurs::variants()[variant].op) continue;
      const Record record = judge_line(runner, c, 1);
      const std::string failure = failure_of(record.verdict);
      if (failure.empty()) continue;
      const ShrunkFailure shrunk = shrink_failure(runner, c, record, 1);
      SCOPED_TRACE(saboteurs::variants()[variant].id + "\n" + record.id + "\n" + shrunk.record.id);
      EXPECT_EQ(failure_of(shrunk.record.verdict), failure);
      EXPECT_LE(shrunk.record.id.size(), 160);
      std::string error;
      const auto plainest = parse_case(shrunk.record.id, error);
      ASSERT_TRUE(plainest.has_value()) << error;
      flaky += shrunk.flaky;
      largest.push_back(largest_dimension(*plainest));
      plain += plainest->data == DataProfile::kPlain;
      break;
    }
  }
  ASSERT_GT(largest.size(), 50);
  std::ranges::sort(largest);
  EXPECT_LE(largest[largest.size() / 2], 2);
  EXPECT_GE(10 * plain, 7 * std::ssize(largest));
  RecordProperty("shrunk", static_cast<int>(largest.size()));
}

// Each run would wait as long again: for a kernel that tunes for 31 s, minutes.
TEST(Shrinking, DoesNotWaitForTimeouts) {
  InProcessRunner runner(saboteurs::implementation(0));
  Case c;
  c.B = c.H = 7;
  Record record = judge_line(runner, c, 1);
  record.verdict = {Status::kBroken, "timeout: run has not returned within 30 s, the limit of --timeout", {}};
  const ShrunkFailure shrunk = shrink_failure(runner, c, record, 1);
  EXPECT_EQ(shrunk.effort, "not shrunk: each run could take as long as --timeout");
  EXPECT_EQ(shrunk.record.id, record.id);
  EXPECT_FALSE(shrunk.flaky);
}

}  // namespace
}  // namespace backgauge::cli
