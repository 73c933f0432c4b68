// SPDX-License-Identifier: Apache-2.0
// Compares counts with the products written out one by one, and with published numbers.
#include "perf/workload/cost_model.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

Case parsed(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line + " data=strat:0x1", error);
  EXPECT_TRUE(c.has_value()) << line << "\n" << error;
  return c.value_or(Case{});
}

// The flops of [rows, inner] x [inner, columns].
double product_flops(double rows, double inner, double columns) { return 2 * rows * inner * columns; }

TEST(Work, BlockIsItsFourProductsOverTheStepsThatCount) {
  const double S = 4, B = 3, I = 5, H = 7;
  const double of_a_step = product_flops(B, 4 * H, I) + product_flops(B, 4 * H, H) +  // dgates w^T
                           product_flops(I, B, 4 * H) + product_flops(H, B, 4 * H);   // [x, h]^T dgates
  const Work work = work_of(parsed("block_lstm_grad_v2 t9b3i5h7 seq=4 dt=f32"));
  EXPECT_EQ(work.flops, S * of_a_step);
  EXPECT_EQ(work.limited_by, LimitedBy::kArithmetic);
}

TEST(Work, BlockReadsWhatCountsAndWritesEverything) {
  // x, i, f, o, ci, co, cs_grad, h_grad of 2 steps, cs and h of 1, cs_prev, h_prev, w; all outputs.
  const double T = 3, B = 2, I = 4, H = 5;
  const double read = 2 * B * I + 7 * 2 * B * H + 2 * B * H + 2 * B * H + (I + H) * 4 * H;
  const double written = T * B * I + 2 * B * H + (I + H) * 4 * H + 3 * H + 4 * H;
  EXPECT_EQ(work_of(parsed("block_lstm_grad_v2 t3b2i4h5 seq=2 dt=f16")).bytes, 2 * (read + written));
}

TEST(Work, CellIsCountedInElements) {
  EXPECT_EQ(work_of(parsed("lstm_block_cell_grad b32i512h512 dt=f32")).bytes, 4.0 * 13 * 32 * 512);
  EXPECT_EQ(work_of(parsed("lstm_block_cell_grad b32i512h512 dt=f16")).bytes, 2.0 * 13 * 32 * 512);
  EXPECT_EQ(work_of(parsed("lstm_block_cell_grad b32i512h512 peep=1 dt=f32")).bytes, 4.0 * (14 * 32 * 512 + 6 * 512));
  EXPECT_EQ(work_of(parsed("lstm_block_cell_grad b32i512h512 dt=f32")).flops, 0);
  EXPECT_EQ(work_of(parsed("lstm_block_cell_grad b32i512h512 dt=f32")).limited_by, LimitedBy::kBandwidth);
}

TEST(Work, CudnnLayersDirectionsAndGates) {
  const double T = 3, B = 2, I = 5, H = 7;
  for (const auto& [mode, gates] : {std::pair{"relu", 1.0}, {"tanh", 1.0}, {"gru", 3.0}, {"lstm", 4.0}}) {
    const std::string words = std::string(" mode=") + mode + " dt=f64";
    EXPECT_EQ(work_of(parsed("cudnn_rnn_backprop t3b2i5h7" + words)).flops, 4 * T * B * gates * H * (I + H));
    EXPECT_EQ(work_of(parsed("cudnn_rnn_backprop t3b2i5h7 dir=bi layers=3" + words)).flops,
              2 * 4 * T * B * gates * H * ((I + H) + 2 * (2 * H + H)));
    EXPECT_EQ(work_of(parsed("cudnn_rnn_backprop t3b2i7h7 in=skip" + words)).flops, 4 * T * B * gates * H * H);
  }
}

// DeepBench counts 8 * H * H * B * T for each of its two backward passes, and publishes 4.29e11 for this problem.
TEST(Work, AgreesWithDeepBench) {
  const Work work = work_of(parsed("cudnn_rnn_backprop t25b128i4096h4096 mode=lstm in=skip dt=f32"));
  EXPECT_NEAR(work.flops / 2, 4.29e11, 0.01e11);
}

TEST(Memory, GrowsWithTheOutputsMoreThanWithTheInputs) {
  const double small = memory_of_a_judged_case(parsed("block_lstm_grad_v2 t2b3i4h5 dt=f32"));
  EXPECT_GT(small, work_of(parsed("block_lstm_grad_v2 t2b3i4h5 dt=f32")).bytes);
  // w and w_grad of 2^29 elements each: 16 bytes and 40.
  EXPECT_NEAR(memory_of_a_judged_case(parsed("block_lstm_grad_v2 t1b1i8192h8192 dt=f32")), 56 * 0x1p29, 0x1p29);
}

}  // namespace
}  // namespace backgauge
