// SPDX-License-Identifier: Apache-2.0
// Tests which sizes are computed in clusters, and how rows and hidden units are divided among them. Their results are
// judged in ci/testing/command/cuda_test.py (BACKGAUGE_CUDA_STEPS).
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "impl/cuda/clusters/lstm.h"
#include "impl/cuda/clusters/rnn.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {
namespace {

template <class Storage>
ClusterPlan plan_of(std::int64_t B, std::int64_t H, int blocks) {
  return plan_lstm_clusters<Storage>({3, B, H}, false, blocks);
}

TEST(LstmClusters, DivideTheBatchAmongAllThatRunAtOnce) {  // the host runs three
  for (const auto& [B, rows, count] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 1, 3}, {4, 2, 2}, {7, 3, 3}, {24, 8, 3}, {25, 8, 4}}) {
    for (const ClusterPlan& plan : {plan_of<Half>(B, 40, 8), plan_of<float>(B, 40, 8)}) {
      EXPECT_EQ(plan.blocks, 8) << B;
      EXPECT_EQ(plan.rows, rows) << B;
      EXPECT_EQ(plan.count, count) << B;
    }
  }
}

TEST(LstmClusters, HaveNoMoreRowsThanTheirThreadsHaveCells) {
  EXPECT_EQ(plan_of<Half>(100, 256, 4).rows, 8);  // 64 hidden units of a block, and 256 threads with two cells
  EXPECT_EQ(plan_of<Half>(100, 257, 4).rows, 6);  // 80
}

// The largest H for clusters of 1, 2, 4, 8 and 16 blocks.
template <class Plan>
std::vector<std::int64_t> largest(const Plan& plan) {
  std::vector<std::int64_t> all;
  for (const int blocks : {1, 2, 4, 8, 16}) {
    std::int64_t H = 1;
    while (plan(RecurrenceSizes{3, 1, H}, blocks)) ++H;
    all.push_back(H - 1);
  }
  return all;
}

// What kMostUnits, the registers and 227 KiB allow; the table of README.md.
TEST(Clusters, AreNotUsedWhereTheWeightsDoNotFit) {
  using Sizes = std::vector<std::int64_t>;
  const auto of_mode = [](auto storage, std::int32_t mode) {
    return largest([=](const RecurrenceSizes& sizes, int blocks) {
      return plan_rnn_clusters<decltype(storage)>(mode, sizes, blocks);
    });
  };
  for (const bool peephole : {false, true}) {
    const auto plan = [=]<class S>(S) {
      return largest(
          [=](const RecurrenceSizes& sizes, int blocks) { return plan_lstm_clusters<S>(sizes, peephole, blocks); });
    };
    EXPECT_EQ(plan(Half{}), (peephole ? Sizes{160, 256, 336, 512, 768} : Sizes{176, 256, 368, 512, 768}));
    EXPECT_EQ(plan(float{}), (peephole ? Sizes{115, 162, 256, 384, 512} : Sizes{118, 166, 256, 384, 512}));
  }
  EXPECT_EQ(of_mode(Half{}, BACKGAUGE_LSTM), (Sizes{176, 256, 368, 512, 768}));
  EXPECT_EQ(of_mode(float{}, BACKGAUGE_LSTM), (Sizes{118, 166, 256, 384, 512}));
  EXPECT_EQ(of_mode(Half{}, BACKGAUGE_GRU), (Sizes{192, 288, 432, 576, 768}));
  EXPECT_EQ(of_mode(float{}, BACKGAUGE_GRU), (Sizes{143, 193, 293, 386, 512}));
  EXPECT_EQ(of_mode(Half{}, BACKGAUGE_RNN_RELU), (Sizes{368, 512, 704, 1024, 1024}));
  EXPECT_EQ(of_mode(float{}, BACKGAUGE_RNN_TANH), (Sizes{256, 384, 512, 512, 512}));
}

TEST(LstmClusters, AreNotUsedUnasked) {
  EXPECT_FALSE(plan_of<float>(8, 40, 0));
  EXPECT_FALSE(plan_of<float>(0, 40, 8));
  EXPECT_FALSE(plan_of<float>(8, 0, 8));
}

TEST(ClusterSizes, FindTheBlockOfEveryUnit) {
  for (const int blocks : {1, 2, 4, 8, 16}) {
    for (std::int64_t H = 1; H <= 768; ++H) {
      const ClusterSizes sizes({1, 1, H}, blocks, 1);
      for (int unit = 0; unit < H; ++unit) ASSERT_EQ(sizes.block_of(unit), unit / sizes.units) << H << " " << unit;
    }
  }
}

// Conflicts of banks would not be wrong, only slow.
TEST(HalfClusterWeights, ReadGradientsFromAllBanks) {
  using Weights = HalfClusterWeights<3, 1, 32>;
  for (int units = 16; units <= 96; units += 16) {
    std::set<int> banks;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      banks.insert((mma_b_column(lane) * Weights::stride(units) + mma_b_row(lane, 0)) / 2 % 32);
    }
    EXPECT_EQ(banks.size(), 32u) << units;
  }
}

}  // namespace
}  // namespace backgauge::cuda
