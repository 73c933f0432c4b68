// SPDX-License-Identifier: Apache-2.0
// Compares the layout with a walk through the buffer in the order of reference/semantics.md 4.2.
#include "reference/contract/rnn_params.h"

#include <gtest/gtest.h>

#include <vector>

namespace backgauge {
namespace {

backgauge_attributes attributes(backgauge_rnn_mode mode, backgauge_input_mode input = BACKGAUGE_LINEAR_INPUT,
                                backgauge_direction direction = BACKGAUGE_UNIDIRECTIONAL) {
  backgauge_attributes result{};
  result.rnn_mode = mode;
  result.input_mode = input;
  result.direction = direction;
  return result;
}

// Visits every legal combination of small sizes.
template <class Visit>
void for_each_layout(Visit visit) {
  for (const auto mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const auto direction : {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL}) {
      for (const auto input : {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT}) {
        for (const std::int64_t L : {1, 2, 3}) {
          for (const std::int64_t I : {0, 3, 5}) {
            const std::int64_t H = 3;
            if (input == BACKGAUGE_SKIP_INPUT && I != H) continue;
            visit(rnn_params(attributes(mode, input, direction), I, H, L));
          }
        }
      }
    }
  }
}

TEST(RnnParams, WorkedSizes) {
  EXPECT_EQ(rnn_params(attributes(BACKGAUGE_LSTM), 200, 200, 4).size(), 1286400);
  EXPECT_EQ(rnn_params(attributes(BACKGAUGE_GRU), 200, 200, 4).size(), 964800);
  EXPECT_EQ(rnn_params(attributes(BACKGAUGE_RNN_TANH), 200, 200, 4).size(), 321600);
  EXPECT_EQ(rnn_params(attributes(BACKGAUGE_RNN_RELU), 4, 8, 2).size(), 256);
}

TEST(RnnParams, WorkedOffsets) {
  // gru, both directions, I = 5, H = 3, L = 2: 3*3*(5+3) = 72 per pseudo-layer, then 3*3*(6+3) = 81, biases 18 each.
  const RnnParams p = rnn_params(attributes(BACKGAUGE_GRU, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_BIDIRECTIONAL), 5, 3, 2);
  EXPECT_EQ(p.W(0, 0, 2), 30);
  EXPECT_EQ(p.R(0, 0, 0), 45);
  EXPECT_EQ(p.W(0, 1, 0), 72);
  EXPECT_EQ(p.W(1, 0, 1), 144 + 18);
  EXPECT_EQ(p.R(1, 1, 2), 144 + 81 + 54 + 18);
  EXPECT_EQ(p.matrices(), 306);
  EXPECT_EQ(p.bW(0, 0, 0), 306);
  EXPECT_EQ(p.bR(0, 1, 2), 306 + 18 + 9 + 6);
  EXPECT_EQ(p.bW(1, 0, 1), 306 + 36 + 3);
  EXPECT_EQ(p.size(), 306 + 72);
}

TEST(RnnParams, BlocksFollowEachOtherWithoutGaps) {
  int layouts = 0;
  for_each_layout([&](const RnnParams& p) {
    ++layouts;
    std::int64_t offset = 0;
    const auto expect_at = [&](std::int64_t got, std::int64_t elements) {
      ASSERT_EQ(got, offset);
      offset += elements;
    };
    const std::int64_t H = p.hidden_size;
    for (std::int64_t layer = 0; layer < p.layers; ++layer) {
      const std::int64_t in = layer > 0 ? p.directions * H : p.skip_input ? 0 : p.input_size;
      ASSERT_EQ(p.matrix_input(layer), in);
      for (std::int64_t d = 0; d < p.directions; ++d) {
        for (std::int64_t gate = 0; gate < p.gates; ++gate) expect_at(p.W(layer, d, gate), H * in);
        for (std::int64_t gate = 0; gate < p.gates; ++gate) expect_at(p.R(layer, d, gate), H * H);
      }
    }
    ASSERT_EQ(p.matrices(), offset);
    for (std::int64_t layer = 0; layer < p.layers; ++layer) {
      for (std::int64_t d = 0; d < p.directions; ++d) {
        for (std::int64_t gate = 0; gate < p.gates; ++gate) expect_at(p.bW(layer, d, gate), H);
        for (std::int64_t gate = 0; gate < p.gates; ++gate) expect_at(p.bR(layer, d, gate), H);
      }
    }
    ASSERT_EQ(p.size(), offset);
    ASSERT_EQ(checked_size(p), offset);
  });
  EXPECT_EQ(layouts, 4 * 2 * 3 * (3 + 1 + 3));
}

TEST(RnnParams, SkipIsResolved) {
  EXPECT_TRUE(resolves_to_skip(BACKGAUGE_SKIP_INPUT, 3, 3));
  EXPECT_TRUE(resolves_to_skip(BACKGAUGE_AUTO_SELECT, 3, 3));
  EXPECT_FALSE(resolves_to_skip(BACKGAUGE_AUTO_SELECT, 3, 4));
  EXPECT_FALSE(resolves_to_skip(BACKGAUGE_LINEAR_INPUT, 3, 3));
  EXPECT_EQ(rnn_params(attributes(BACKGAUGE_LSTM, BACKGAUGE_AUTO_SELECT), 7, 7, 2).layer_input(0), 7);
}

TEST(RnnParams, GatesOfModes) {
  EXPECT_EQ(rnn_gates(BACKGAUGE_RNN_RELU), 1);
  EXPECT_EQ(rnn_gates(BACKGAUGE_RNN_TANH), 1);
  EXPECT_EQ(rnn_gates(BACKGAUGE_LSTM), 4);
  EXPECT_EQ(rnn_gates(BACKGAUGE_GRU), 3);
  for (const std::int32_t unknown : {0, 5, -1}) EXPECT_EQ(rnn_gates(unknown), 0);
}

TEST(RnnParams, SizesThatOverflowAreNotGiven) {
  const std::int64_t large = std::int64_t{1} << 48;
  const backgauge_attributes lstm = attributes(BACKGAUGE_LSTM);
  EXPECT_EQ(checked_size(rnn_params(lstm, large, large, large)), std::nullopt);
  EXPECT_EQ(checked_size(rnn_params(lstm, large, 1, large)), 4 * (large + 3) + (large - 1) * 16);
  EXPECT_EQ(checked_size(rnn_params(lstm, 1, large, 1)), std::nullopt);
  EXPECT_EQ(checked_size(rnn_params(lstm, 1, std::int64_t{1} << 28, 1)),
            (std::int64_t{4} << 28) * ((std::int64_t{1} << 28) + 3));
  EXPECT_EQ(checked_size(rnn_params(lstm, 1, std::int64_t{1} << 29, 1)), std::nullopt);  // just above 2^60
}

}  // namespace
}  // namespace backgauge
