// SPDX-License-Identifier: Apache-2.0
// Clusters on the host backend, with kernels that each break one rule; and the product of a warp.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "impl/cuda/device/mma.h"
#include "impl/cuda/device/testing/error_of.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {
namespace {

// In each step a block gives the block after it a number one larger than its own. to[cluster, block]: its last number.
struct RingKernel {
  static constexpr int kThreads = kWarpLanes, kStepPhases = 1, kEndPhases = 2;
  using Local = Nothing;

  float* to = nullptr;
  std::int64_t step_count = 1;
  bool two_buffers = true;
  bool stores_at_the_end = false;
  std::int64_t bytes = 2 * sizeof(float);

  std::int64_t steps() const { return step_count; }
  std::int64_t shared_bytes() const { return bytes; }

  void begin(const Warp<Local>& warp) const {
    warp.each([&](const Lane& lane, Local&) {
      if (lane.thread == 0) numbers(warp.block)[0] = static_cast<float>(10 * warp.block.rank);
    });
  }
  template <int kPhase>
  void step(const Warp<Local>& warp, std::int64_t number) const {
    const int next = (warp.block.rank + 1) % warp.block.blocks;
    warp.each([&](const Lane& lane, Local&) {
      if (lane.thread != 0) return;
      float* const own = numbers(warp.block);
      const std::int64_t now = two_buffers ? number % 2 : 0, then = two_buffers ? 1 - now : 0;
      warp.block.store_in(next, own + then, own[now] + 1);
    });
  }
  template <int kPhase>
  void end(const Warp<Local>& warp) const {
    warp.each([&](const Lane& lane, Local&) {
      if (lane.thread != 0) return;
      float* const last = numbers(warp.block) + (two_buffers ? step_count % 2 : 0);
      if (kPhase == 0 && stores_at_the_end) warp.block.store_in((warp.block.rank + 1) % warp.block.blocks, last, 99);
      if (kPhase == 1) to[warp.block.cluster * warp.block.blocks + warp.block.rank] = *last;
    });
  }

 private:
  static float* numbers(const ClusterBlock& block) { return reinterpret_cast<float*>(block.shared); }
};

// The numbers after three steps of two clusters of four blocks, in both orders.
std::set<std::vector<float>> numbers_of(RingKernel kernel) {
  std::set<std::vector<float>> all;
  for (int run = 0; run < 2; ++run) {
    std::vector<float> to(8, -1);
    kernel.to = to.data();
    kernel.step_count = 3;
    Work work(nullptr, nullptr, 0);
    work.main().launch_clusters(2, 4, kernel);
    work.finish();
    all.insert(to);
  }
  return all;
}

TEST(Cluster, HandsValuesFromBlockToBlock) {
  EXPECT_EQ(numbers_of({}), (std::set<std::vector<float>>{{13, 23, 33, 3, 13, 23, 33, 3}}));
}

TEST(Cluster, ShowsABlockThatWritesWhatAnotherOneStillReads) {
  EXPECT_GT(numbers_of({.two_buffers = false}).size(), 1u);
}

TEST(Cluster, LosesWhatIsStoredInABlockThatMayHaveEnded) {
  EXPECT_EQ(numbers_of({.stores_at_the_end = true}), numbers_of({}));
}

TEST(Cluster, RefusesMoreThanABlockMayHave) {
  const auto launch = [](int blocks, std::int64_t bytes) {
    return error_of([=] {
      Work work(nullptr, nullptr, 0);
      work.main().launch_clusters(1, blocks, RingKernel{.bytes = bytes});
    });
  };
  EXPECT_EQ(launch(16, 227 * 1024), "");
  EXPECT_EQ(launch(16, 227 * 1024 + 16), "a cluster that no device can run");
  EXPECT_EQ(launch(17, 16), "a cluster that no device can run");
}

// d = a b + 1 for whole numbers, which are exact in every order.
TEST(Mma, IsTheProductOfItsFragments) {
  const auto a_of = [](int row, int depth) { return static_cast<float>((row * 5 + depth * 3) % 11 - 5); };
  const auto b_of = [](int depth, int column) { return static_cast<float>((depth * 7 + column * 2) % 13 - 6); };
  OfLanes<MmaA> a;
  OfLanes<MmaB> b;
  OfLanes<MmaD> d;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int k = 0; k < 4; ++k) {
      const int row = mma_a_row(lane, k), depth = mma_a_column(lane, k);
      a.at[lane].of[k] = pair_of(narrow<Half>(a_of(row, depth)), narrow<Half>(a_of(row, depth + 1)));
      d.at[lane].of[k] = 1;
    }
    for (int k = 0; k < 2; ++k) {
      const int depth = mma_b_row(lane, k), column = mma_b_column(lane);
      b.at[lane].of[k] = pair_of(narrow<Half>(b_of(depth, column)), narrow<Half>(b_of(depth + 1, column)));
    }
  }
  multiply_fragments(a, b, d);
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int k = 0; k < 4; ++k) {
      const int row = mma_d_row(lane, k), column = mma_d_column(lane, k);
      seen.emplace(row, column);
      float want = 1;
      for (int depth = 0; depth < kMmaDepth; ++depth) want += a_of(row, depth) * b_of(depth, column);
      EXPECT_EQ(d.at[lane].of[k], want) << row << ", " << column;
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kMmaRows * kMmaColumns));
}

}  // namespace
}  // namespace backgauge::cuda
