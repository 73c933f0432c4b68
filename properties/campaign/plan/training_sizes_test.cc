// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/training_sizes.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "properties/campaign/plan/campaign.h"
#include "properties/case/draw/structures.h"

namespace backgauge {
namespace {

const std::vector<backgauge_op> kOps{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                     BACKGAUGE_CUDNN_RNN_BACKPROP};

// What a plug-in may be wrong for and a tier must meet.
struct Size {
  const char* what;
  std::function<bool(const Case&)> is;
  bool of_cell = true, of_block = true;
};
const std::vector<Size> kSizes = {
    {"H = 512", [](const Case& c) { return c.H == 512; }},
    {"B >= 128", [](const Case& c) { return c.B >= 128; }},
    {"I = 1024", [](const Case& c) { return c.I == 1024; }},
    {"T > 64", [](const Case& c) { return c.T > 64; }, false},
    {"layers > 4", [](const Case& c) { return c.layers > 4; }, false, false},
};

bool applies(const Size& size, backgauge_op op) {
  return op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD ? size.of_cell : op != BACKGAUGE_BLOCK_LSTM_GRAD_V2 || size.of_block;
}

// Each distinct text of `key` that cases of an op at a size have.
std::set<std::string> had(const std::vector<Case>& cases, backgauge_op op, const Size& size,
                          const std::function<std::string(const Case&)>& key) {
  std::set<std::string> out;
  for (const Case& c : cases) {
    if (c.op == op && size.is(c)) out.insert(key(c));
  }
  return out;
}

TEST(TrainingSizes, TheGateHasEachWithEveryDtypeModeDirectionAndPeephole) {
  const std::vector<Case> cases = plan({.tier = Tier::kCi, .seed = 1, .ops = kOps});
  for (const backgauge_op op : kOps) {
    const bool stacked = op == BACKGAUGE_CUDNN_RNN_BACKPROP;
    for (const Size& size : kSizes) {
      if (!applies(size, op)) continue;
      const auto count = [&](const std::function<std::string(const Case&)>& key) {
        return had(cases, op, size, key).size();
      };
      EXPECT_EQ(count([](const Case& c) { return std::string(dtype_word(c.dtype)); }), stacked ? 4u : 2u)
          << find_op(op)->word << " " << size.what;
      EXPECT_EQ(count([](const Case& c) { return std::to_string(c.rnn_mode); }), stacked ? 4u : 1u) << size.what;
      EXPECT_EQ(count([](const Case& c) { return std::to_string(c.direction); }), stacked ? 2u : 1u) << size.what;
      EXPECT_EQ(count([](const Case& c) { return std::to_string(c.use_peephole); }), stacked ? 1u : 2u) << size.what;
    }
  }
}

TEST(TrainingSizes, EveryTierMeetsEach) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi, Tier::kFull}) {
    const std::vector<Case> cases = plan({.tier = tier, .seed = 2, .ops = kOps});
    for (const backgauge_op op : kOps) {
      for (const Size& size : kSizes) {
        if (!applies(size, op)) continue;
        EXPECT_FALSE(had(cases, op, size, [](const Case& c) { return to_string(c); }).empty())
            << tier_word(tier) << " " << find_op(op)->word << " " << size.what;
      }
    }
  }
}

TEST(TrainingSizes, TheSizesOfTrainingAreThere) {
  const std::vector<Case> cases = plan({.tier = Tier::kCi, .seed = 1, .ops = kOps});
  std::set<std::int64_t> H, T, B, layers;
  for (const Case& c : cases) H.insert(c.H), T.insert(c.T), B.insert(c.B), layers.insert(c.layers);
  for (const std::int64_t size : {384, 512, 650, 768, 1024, 1500, 2048}) EXPECT_TRUE(H.contains(size)) << size;
  for (const std::int64_t size : {35, 64, 100, 128, 200, 512, 1024}) EXPECT_TRUE(T.contains(size)) << size;
  for (const std::int64_t size : {1, 20, 32, 64, 128, 256}) EXPECT_TRUE(B.contains(size)) << size;
  for (const std::int64_t size : {4, 5, 6, 7, 8}) EXPECT_TRUE(layers.contains(size)) << size;
}

// By name: not left to the draws.
TEST(StructuredCases, EveryTierHasEveryStructureOfEveryOp) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi}) {
    std::set<std::pair<backgauge_op, const Structure*>> had;
    for (const Case& c : plan({.tier = tier, .seed = 1, .ops = kOps})) {
      if (const Structure* structure = structure_of(c)) had.insert({c.op, structure});
    }
    for (const backgauge_op op : kOps) {
      for (const DataProfile data :
           {DataProfile::kBlank, DataProfile::kAlike, DataProfile::kExact, DataProfile::kLone}) {
        for (const Structure& structure : structures_of(op, data)) {
          EXPECT_TRUE(had.contains({op, &structure}))
              << tier_word(tier) << " " << find_op(op)->word << ": " << structure.what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace backgauge
