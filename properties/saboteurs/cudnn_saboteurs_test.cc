// SPDX-License-Identifier: Apache-2.0
// The judge kills every saboteur of CudnnRNNBackprop with one of a few cases, and passes correct variants in all.
// Faults of group K show only in malformed calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "properties/case/draw/inputs.h"
#include "properties/judge/judge.h"
#include "properties/saboteurs/variant.h"

namespace backgauge {
namespace {

using saboteurs::Kind;
using saboteurs::Variant;

// Each case shows faults that the cases above it cannot show. They are judged one after another, so that state kept
// from one call affects the next.
constexpr const char* kCases[] = {
    "cudnn_rnn_backprop t3b2i5h3 mode=lstm dir=bi layers=3 in=linear drop=0.5 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b3i4h3 mode=gru dir=bi layers=3 in=linear drop=0.5 dt=f32 data=strat:0x2",
    "cudnn_rnn_backprop t4b2i3h5 mode=tanh dir=uni layers=2 in=linear dt=f32 data=strat:0x3",
    "cudnn_rnn_backprop t4b2i3h5 mode=tanh dir=bi layers=2 in=linear dt=f32 data=strat:0x3",
    "cudnn_rnn_backprop t4b3i3h5 mode=relu dir=bi layers=3 in=linear drop=0.5 dt=f32 data=strat:0x4",
    // A scale of dropout that is rounded.
    "cudnn_rnn_backprop t3b2i5h3 mode=tanh dir=uni layers=2 in=linear drop=0.3 dt=f32 data=strat:0x1a",
    // I = H, with and without W of the first layer.
    "cudnn_rnn_backprop t3b3i4h4 mode=gru dir=uni layers=2 in=linear dt=f32 data=strat:0x5",
    "cudnn_rnn_backprop t2b2i3h3 mode=lstm dir=uni layers=2 in=skip dt=f32 data=strat:0x6",
    // No example; one example and one step; dropout of everything.
    "cudnn_rnn_backprop t2b0i3h2 mode=tanh dir=uni layers=1 in=linear dt=f32 data=strat:0x7",
    "cudnn_rnn_backprop t1b1i3h2 mode=tanh dir=bi layers=1 in=linear dt=f32 data=strat:0x7",
    "cudnn_rnn_backprop t2b2i3h4 mode=lstm dir=uni layers=2 in=linear drop=1 dt=f32 data=strat:0x8",
    // Full vectors and remainders; sums of 32 terms.
    "cudnn_rnn_backprop t2b2i3h8 mode=lstm dir=uni layers=1 in=linear dt=f32 data=strat:0x9",
    "cudnn_rnn_backprop t2b2i3h13 mode=lstm dir=uni layers=1 in=linear dt=f32 data=strat:0xa",
    "cudnn_rnn_backprop t2b2i3h33 mode=tanh dir=uni layers=1 in=linear dt=f32 data=strat:0xb",
    // Non-finite values, subnormal values, values near the largest half.
    "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=f32 data=nan:0xc",
    "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=f16 data=huge:0xd",
    "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=f16 data=tiny:0xe",
    "cudnn_rnn_backprop t3b2i3h4 mode=relu dir=uni layers=1 in=linear dt=f32 data=zeros:0xf",
    "cudnn_rnn_backprop t3b17i19h13 mode=gru dir=uni layers=1 in=linear dt=f16 data=strat:0x10",
    "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=bf16 data=strat:0x11",
    "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=bf16 data=huge:0x12",
    // The gradient of the input is too large for half in one direction, and their sum is not.
    "cudnn_rnn_backprop t1b3i5h5 mode=lstm dir=bi layers=1 in=linear dt=f16 data=huge:0x19",
};

// 2^16 + 1 rows, more than a 16-bit index can count. In double, where the bound of so long a sum is less than one term.
constexpr const char* kManyRows =
    "cudnn_rnn_backprop t1b65537i1h1 mode=tanh dir=uni layers=1 in=linear dt=f64 data=strat:0x11";
const std::set<std::string> kNeedManyRows = {"H17.rnn", "H18.rnn"};

// The outputs of these calls cannot show masks that differ from forward to forward, flags of the processor, nor sums in
// half within class S, which show where they are longer.
const std::set<std::string> kNeedMore = {"G23.rnn", "I17.rnn", "J14.rnn"};

Filled filled(const char* line) {
  std::string error;
  const auto parsed = parse_case(line, error);
  EXPECT_TRUE(parsed) << line << ": " << error;
  Filled result = parsed ? fill(*parsed) : Filled{};
  EXPECT_EQ(result.error, "") << line;
  return result;
}

std::vector<Filled> filled_cases() {
  std::vector<Filled> all;
  for (const char* line : kCases) all.push_back(filled(line));
  return all;
}

bool is_rnn(const Variant& variant) { return variant.op == BACKGAUGE_CUDNN_RNN_BACKPROP; }

bool is_killed(const backgauge_implementation& implementation, const std::vector<Filled>& cases) {
  return std::any_of(cases.begin(), cases.end(), [&](const Filled& each) {
    const Status status = judge_case(implementation, each.problem, each.facts, {}).status;
    return status == Status::kFailed || status == Status::kBroken;
  });
}

// Bounds of wider numerical contracts may be too wide to conclude anything from a case.
bool is_coarse(const Variant& variant) {
  const Declared& declared = variant.style.declared;
  return declared.accuracy_class != BACKGAUGE_CLASS_A || declared.numerical_contract != BACKGAUGE_FP32_STRICT;
}

class CudnnSaboteurs : public testing::TestWithParam<std::string> {};

TEST_P(CudnnSaboteurs, AreKilled) {
  const std::vector<Filled> cases = filled_cases(), many_rows = {filled(kManyRows)};
  int judged = 0;
  for (std::size_t n = 0; n < saboteurs::variants().size(); ++n) {
    const Variant& variant = saboteurs::variants()[n];
    if (!is_rnn(variant) || variant.kind != Kind::kSaboteur || variant.group != GetParam()) continue;
    if (kNeedMore.contains(variant.id)) continue;
    ++judged;
    const bool killed = is_killed(saboteurs::implementation(n), kNeedManyRows.contains(variant.id) ? many_rows : cases);
    EXPECT_TRUE(killed) << variant.id << " survives: " << variant.what;
  }
  EXPECT_GT(judged, 0);
}

INSTANTIATE_TEST_SUITE_P(Groups, CudnnSaboteurs,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "operator"),
                         [](const auto& group) { return group.param; });

TEST(CorrectCudnnVariants, Pass) {
  const std::vector<Filled> cases = filled_cases();
  int judged = 0;
  for (std::size_t n = 0; n < saboteurs::variants().size(); ++n) {
    const Variant& variant = saboteurs::variants()[n];
    if (variant.kind != Kind::kCorrect) continue;
    for (const Filled& each : cases) {
      const Verdict verdict = judge_case(saboteurs::implementation(n), each.problem, each.facts, {});
      const bool said_nothing = verdict.status == Status::kMistrusted && is_coarse(variant);
      EXPECT_TRUE(verdict.status == Status::kPassed || verdict.status == Status::kSkipped || said_nothing)
          << variant.id << ": " << verdict.reason;
      judged += verdict.status == Status::kPassed;
    }
  }
  EXPECT_GT(judged, 100);
}

}  // namespace
}  // namespace backgauge
