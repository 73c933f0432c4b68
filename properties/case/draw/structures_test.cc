// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/structures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

constexpr DataProfile kStructured[] = {DataProfile::kBlank, DataProfile::kAlike, DataProfile::kExact,
                                       DataProfile::kLone};
constexpr backgauge_op kOps[] = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                 BACKGAUGE_CUDNN_RNN_BACKPROP};

// Has every part that a structure refers to: peepholes, steps, directions, layers, I = H.
Case whole(backgauge_op op, DataProfile data, std::uint64_t seed) {
  Case c{.op = op, .T = 3, .B = 3, .I = 5, .H = 5, .seq_len_max = 3, .use_peephole = true, .data = data, .seed = seed};
  if (op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) c.T = c.seq_len_max = 1;
  if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) c.layers = 2, c.direction = BACKGAUGE_BIDIRECTIONAL, c.use_peephole = false;
  return c;
}

const std::vector<double>& values(const Filled& f, std::string_view name) { return f.problem.find(name)->values; }

bool all_zero(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v == 0; });
}

// Enough seeds that some of them, a quarter of all, keep the drawn values of elements that are never read.
constexpr std::uint64_t kRounds = 24;

// The cell reads neither steps nor weights, so structures of those change nothing.
TEST(Structures, EachChangesInputsThatAreOtherwiseDrawn) {
  for (const backgauge_op op : kOps) {
    for (const DataProfile data : kStructured) {
      const std::span<const Structure> all = structures_of(op, data);
      std::set<std::string> names;
      for (std::uint64_t number = 0; number < all.size(); ++number) {
        EXPECT_TRUE(names.insert(all[number].what).second) << all[number].what;
        bool changed = op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          const Case c = whole(op, data, round * all.size() + number);
          ASSERT_EQ(structure_of(c), &all[number]);
          Case drawn = c;
          drawn.data = DataProfile::kStratified;
          const Filled special = fill(c);
          ASSERT_EQ(special.error, "");
          changed = changed || special.checksum != fill(drawn).checksum;
        }
        EXPECT_TRUE(changed) << find_op(op)->word << ": " << all[number].what;
      }
      EXPECT_GT(names.size(), 10u);
    }
  }
  EXPECT_EQ(structure_of(whole(BACKGAUGE_BLOCK_LSTM_GRAD_V2, DataProfile::kStratified, 1)), nullptr);
}

TEST(Structures, AreWhatTheirNamesSay) {
  const auto blank = [](backgauge_op op, std::string_view what) {
    const std::span<const Structure> all = structures_of(op, DataProfile::kBlank);
    const auto found = std::ranges::find_if(all, [&](const Structure& each) { return each.what == what; });
    EXPECT_NE(found, all.end()) << what;
    return fill(whole(op, DataProfile::kBlank, static_cast<std::uint64_t>(found - all.begin())));
  };
  const Filled start = blank(BACKGAUGE_BLOCK_LSTM_GRAD_V2, "h_prev and cs_prev 0");
  EXPECT_TRUE(all_zero(values(start, "h_prev")) && all_zero(values(start, "cs_prev")));
  EXPECT_FALSE(all_zero(values(start, "x")));
  const Filled last = blank(BACKGAUGE_BLOCK_LSTM_GRAD_V2, "cs_grad and h_grad 0 except at the last step");
  std::vector<double> h_grad = values(last, "h_grad");
  EXPECT_NE(h_grad.back(), 0);
  h_grad.resize(2 * 3 * 5);
  EXPECT_TRUE(all_zero(h_grad));
  const Filled recurrent = blank(BACKGAUGE_BLOCK_LSTM_GRAD_V2, "rows of w for h_prev 0");
  std::vector<double> w = values(recurrent, "w");
  EXPECT_NE(w.front(), 0);
  EXPECT_TRUE(all_zero({w.begin() + 5 * 20, w.end()}));
}

// A structure keeps saved tensors consistent, unless it chooses saved tensors.
TEST(Structures, OfSavedTensorsAreNotMadeByAForwardPass) {
  for (const DataProfile data : kStructured) {
    const std::span<const Structure> all = structures_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2, data);
    for (std::uint64_t number = 0; number < all.size(); ++number) {
      bool consistent = false;
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const Filled f = fill(whole(BACKGAUGE_BLOCK_LSTM_GRAD_V2, data, round * all.size() + number));
        consistent = consistent || f.facts.consistent_saved;
      }
      EXPECT_EQ(consistent, !all[number].chooses_saved) << all[number].what;
    }
  }
}

TEST(Structures, StayWithANewSeed) {
  const Case c = whole(BACKGAUGE_CUDNN_RNN_BACKPROP, DataProfile::kExact, 0x1234567);
  Case other = c;
  other.seed = seed_of_same_structure(c, 0xfedcba9);
  EXPECT_NE(other.seed, c.seed);
  EXPECT_EQ(structure_of(other), structure_of(c));
  EXPECT_EQ(seed_of_same_structure(whole(BACKGAUGE_CUDNN_RNN_BACKPROP, DataProfile::kZeros, 5), 77), 77u);
}

}  // namespace
}  // namespace backgauge
