// SPDX-License-Identifier: Apache-2.0
#include "perf/results/plausible.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

class PlausibleTest : public testing::Test {
 protected:
  PlausibleTest() {
    machine.l1_bytes = 1000;
    machine.l2_bytes = 10'000;
    machine.l3_bytes = 100'000;
    limits.fma_f32 = 100;
    limits.fma_f64 = 50;
    limits.read = {.l1 = 80, .l2 = 40, .l3 = 20, .memory = 8};
    limits.copy = {.l1 = 20, .l2 = 10, .l3 = 5, .memory = 2};
  }

  std::string said(const std::string& line, double seconds, double noise = 0, double fma_gflops = 0) {
    std::string error;
    const Case c = parse_case(line, error).value();
    const WorkloadResult workload{{"case", c}, work_of(c), 1};
    Entry entry{"x", "1", {Status::kPassed, "", {}}};
    entry.samples.push_back({.seconds = seconds});
    return implausible(workload, entry, machine, limits, fma_gflops, noise);
  }

  Machine machine;
  Limits limits;
};

const char* const kBlock = "block_lstm_grad_v2 t10b8i64h64 dt=f32 data=strat:0x1";  // 16*10*8*64*128 = 10.5 MFLOP
const char* const kDouble = "cudnn_rnn_backprop t10b8i64h64 mode=tanh dt=f64 data=strat:0x1";

TEST_F(PlausibleTest, ProductsTakeTheirTime) {
  const double at_limit = 10'485'760 / 100e9;
  EXPECT_EQ(said(kBlock, 1.001 * at_limit), "");
  EXPECT_EQ(said(kBlock, 0.985 * at_limit), "");  // the least noise is 2 %
  EXPECT_NE(said(kBlock, 0.97 * at_limit).find("103 GFLOP/s, but the multiply-add limit of this machine is 100"),
            std::string::npos);
  EXPECT_EQ(said(kBlock, 0.97 * at_limit, 0.1), "");
  EXPECT_NE(said(kBlock, 0.8 * at_limit, 0.1), "");
  EXPECT_EQ(said(kBlock, 0.8 * at_limit, 0, 130), "") << "the loop was faster later";
}

TEST_F(PlausibleTest, OtherUnitsMayBeFaster) {
  const double quick = 10'485'760 / 400e9;
  const char* const kHalf = "block_lstm_grad_v2 t10b8i64h64 dt=f16 data=strat:0x1";
  limits.read = limits.copy = {};
  EXPECT_NE(said(kBlock, quick), "");
  EXPECT_NE(said(kHalf, quick), "");
  machine.half_units = true;
  EXPECT_NE(said(kBlock, quick), "");
  EXPECT_EQ(said(kHalf, quick), "");
  machine.matrix_units = true;
  EXPECT_EQ(said(kBlock, quick), "");
  EXPECT_NE(said(kDouble, 1e-6), "") << "neither multiplies doubles";
}

TEST_F(PlausibleTest, WhatCachesDoNotHoldComesFromFurtherAway) {
  EXPECT_DOUBLE_EQ(least_seconds(900, machine, limits, 1), 900 / 100e9);
  EXPECT_DOUBLE_EQ(least_seconds(9000, machine, limits, 1), 8000 / 50e9);
  EXPECT_DOUBLE_EQ(least_seconds(9000, machine, limits, 100), 9000 / 100e9);  // in the L1 of all
  EXPECT_DOUBLE_EQ(least_seconds(10'111'000, machine, limits, 1), 1e7 / 10e9);
  machine.l2_bytes = machine.l3_bytes = 0;
  EXPECT_DOUBLE_EQ(least_seconds(11'000, machine, limits, 1), 1e4 / 10e9);
  machine.l1_bytes = 0;
  EXPECT_EQ(least_seconds(11'000, machine, limits, 1), 0) << "no cache is known, so any may have held the bytes";
}

TEST_F(PlausibleTest, BytesTakeTheirTime) {
  const char* const kCell = "lstm_block_cell_grad b512i1h1024 dt=f32 data=strat:0x1";  // 13 * 512 * 1024 * 4 = 27 MB
  const double least = (27'262'976 - 111'000) / 10e9;
  EXPECT_EQ(said(kCell, least), "");
  EXPECT_NE(said(kCell, 0.97 * least).find("27.3 MB"), std::string::npos) << said(kCell, 0.97 * least);
  EXPECT_EQ(said(kCell, 0.97 * least, 0.05), "");
}

}  // namespace
}  // namespace backgauge
