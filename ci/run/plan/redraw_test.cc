// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/redraw.h"

#include <gtest/gtest.h>

#include <string>

namespace backgauge::cli {
namespace {

constexpr Declared kEverywhere{.accuracy_class = BACKGAUGE_CLASS_B};

Case parsed(const std::string& line) {
  std::string error;
  return parse_case(line, error).value();
}

// From the ci tier, seed 1: nine draws of each prove nothing for class B.
class Undecidable : public testing::TestWithParam<const char*> {};

TEST_P(Undecidable, GetsStratifiedValues) {
  const Case planned = parsed(GetParam());
  const Case judged = judged_in_place_of(planned, kEverywhere);
  EXPECT_EQ(judged.data, DataProfile::kStratified) << to_string(judged);
  EXPECT_EQ(judged_in_place_of(planned, kEverywhere, kMostRedrawsOfClass).data, planned.data);
  Case same_shape = judged;
  same_shape.data = planned.data;
  same_shape.seed = planned.seed;
  same_shape.checksum = planned.checksum;
  EXPECT_EQ(to_string(same_shape), to_string(planned));
}

TEST_P(Undecidable, KeepsItsClassWhereItProvesSomething) {
  const Case judged = judged_in_place_of(parsed(GetParam()), {.accuracy_class = BACKGAUGE_CLASS_A});
  EXPECT_EQ(judged.data, parsed(GetParam()).data) << to_string(judged);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Undecidable,
    testing::Values("block_lstm_grad_v2 t3b3i3h17 peep=0 order=ifco seq=3 dt=f16 data=tiny:0xd517d5c7",
                    "block_lstm_grad_v2 t2b5i7h23 peep=0 clip=0.5 order=ifco seq=2 dt=f16 data=nan:0x4ab023f6"));

// Sums over 4H and over T B that are too long for class B: no draw of the planned class proves anything.
class LongSums : public testing::TestWithParam<const char*> {};

TEST_P(LongSums, GetSparseValuesThatProveSomething) {
  const Case planned = parsed(GetParam());
  Case judged = judged_in_place_of(planned, kEverywhere);
  EXPECT_EQ(judged.data, DataProfile::kSparse) << to_string(judged);
  judged.checksum.reset();
  EXPECT_EQ(judged_in_place_of(judged, kEverywhere).seed, judged.seed) << to_string(judged) << " proves nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, LongSums,
    testing::Values("block_lstm_grad_v2 t2b2i4h257 peep=0 order=ifco seq=2 dt=f16 data=strat:0x1",
                    "block_lstm_grad_v2 t64b128i3h4 peep=1 order=ifco seq=64 dt=f16 data=tame:0x1",
                    "block_lstm_grad_v2 t1024b2i3h5 peep=1 order=ifco seq=1024 dt=f16 data=tame:0x1",
                    "cudnn_rnn_backprop t2b2i4h64 mode=relu dir=uni layers=1 in=linear dt=bf16 data=strat:0x1",
                    "cudnn_rnn_backprop t2b2i4h64 mode=tanh dir=uni layers=1 in=linear dt=bf16 data=strat:0x1"));

TEST(Redraw, KeepsTheClassEightTimes) {
  Case c = parsed("block_lstm_grad_v2 t3b3i3h17 peep=0 order=ifco seq=3 dt=f16 data=tiny:0xd517d5c7");
  for (int redraws = 1; redraws <= kMostRedraws; ++redraws) {
    const Case next = redrawn(c, redraws);
    EXPECT_NE(next.seed, c.seed);
    EXPECT_EQ(next.data, redraws <= kMostRedrawsOfClass ? DataProfile::kTiny : DataProfile::kStratified) << redraws;
    c = next;
  }
}

}  // namespace
}  // namespace backgauge::cli
