// SPDX-License-Identifier: Apache-2.0
// The checks of the host backend, with kernels and queues that each break one rule.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "impl/cuda/device/testing/error_of.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {
namespace {

// to[block] = the sum of `from` over the threads of the block; with one phase less, before all have written their part.
template <bool kBarrier>
struct SumKernel {
  static constexpr int kThreads = 8, kPhases = kBarrier ? 2 : 1;
  struct Shared {
    float values[kThreads];
  };
  using Local = Nothing;

  const float* from;
  float* to;

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared& shared, Local&) const {
    if constexpr (kPhase == 0) shared.values[thread.index] = from[thread.block * kThreads + thread.index];
    if constexpr (kPhase + 1 == kPhases) {
      if (thread.index != kThreads / 2) return;
      float sum = 0;
      for (const float value : shared.values) sum += value;
      to[thread.block] = sum;
    }
  }
};

TEST(Kernel, OfTwoPhasesSeesWhatItsBlockWrote) {
  const std::vector<float> from(24, 1);
  for (int run = 0; run < 2; ++run) {
    std::array<float, 3> to{};
    Work work(nullptr, nullptr, 0);
    work.main().launch(3, SumKernel<true>{from.data(), to.data()});
    work.finish();
    for (const float sum : to) EXPECT_EQ(sum, 8);
  }
}

TEST(Kernel, WithoutItsBarrierReadsNan) {
  const std::vector<float> from(24, 1);
  for (int run = 0; run < 2; ++run) {
    std::array<float, 3> to{};
    Work work(nullptr, nullptr, 0);
    work.main().launch(3, SumKernel<false>{from.data(), to.data()});
    work.finish();
    for (const float sum : to) EXPECT_TRUE(std::isnan(sum));
  }
}

// *to = 2 * *from
struct TwiceKernel {
  static constexpr int kThreads = 1, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  const float* from;
  float* to;

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread&, Shared&, Local&) const {
    *to = 2 * *from;
  }
};

// The value at the end of a -> b -> c -> d, with b -> c on a side queue, over two works.
std::set<float> results_of_chain(bool fork, bool join_before_last) {
  std::set<float> results;
  for (int run = 0; run < 2; ++run) {
    std::array<float, 4> x{1, 100, 10000, 0};
    Work work(nullptr, nullptr, 1);
    work.main().launch(1, TwiceKernel{&x[0], &x[1]});
    if (fork) work.side(0).wait_for(work.main());
    work.side(0).launch(1, TwiceKernel{&x[1], &x[2]});
    if (join_before_last) work.main().wait_for(work.side(0));
    work.main().launch(1, TwiceKernel{&x[2], &x[3]});
    if (!join_before_last) work.main().wait_for(work.side(0));
    work.finish();
    results.insert(x[3]);
  }
  return results;
}

TEST(Work, DoesWhatWaitsForEachOtherInOrder) { EXPECT_EQ(results_of_chain(true, true), std::set<float>{8}); }

TEST(Work, ShowsAMissingForkOrJoin) {
  EXPECT_NE(results_of_chain(false, true), std::set<float>{8});
  EXPECT_NE(results_of_chain(true, false), std::set<float>{8});
}

TEST(Work, RefusesASideThatNobodyWaitsFor) {
  float x[3] = {1, 0, 0};
  EXPECT_EQ(error_of([&] {
              Work work(nullptr, nullptr, 2);
              work.side(1).launch(1, TwiceKernel{&x[0], &x[1]});
              work.finish();
            }),
            "side queue 2 is not waited for");
  EXPECT_EQ(error_of([&] {  // waited for too early
              Work work(nullptr, nullptr, 2);
              work.main().wait_for(work.side(0));
              work.side(0).launch(1, TwiceKernel{&x[0], &x[1]});
              work.finish();
            }),
            "side queue 1 is not waited for");
  EXPECT_EQ(error_of([&] {  // through the other one
              Work work(nullptr, nullptr, 2);
              work.side(0).launch(1, TwiceKernel{&x[0], &x[1]});
              work.side(1).wait_for(work.side(0));
              work.main().wait_for(work.side(1));
              work.finish();
            }),
            "");
  EXPECT_EQ(x[1], 2);
}

TEST(Work, RefusesAllocationsAndRecordingsInItsMidst) {
  const auto nothing = [](Work&) {};
  EXPECT_EQ(error_of([&] {
              const Work work(nullptr, nullptr, 0);
              const Memory memory(16);
            }),
            "an allocation in the midst of work");
  EXPECT_EQ(error_of([&] {
              const Work work(nullptr, nullptr, 0);
              const Graph graph(nullptr, 0, nothing);
            }),
            "a recording in the midst of work");
  EXPECT_EQ(error_of([&] { const Graph graph(nullptr, 0, [](Work&) { const Memory memory(16); }); }),
            "an allocation in the midst of work");
  EXPECT_EQ(error_of([&] {
              const Memory memory(16);
              const Graph graph(nullptr, 0, nothing);
            }),
            "");
}

TEST(Graph, RefusesASideThatNobodyWaitsFor) {
  float x[2] = {1, 0};
  EXPECT_EQ(error_of([&] {
              const Graph graph(nullptr, 1, [&](Work& work) {
                work.side(0).wait_for(work.main());
                work.side(0).launch(1, TwiceKernel{&x[0], &x[1]});
              });
            }),
            "side queue 1 is not waited for");
}

TEST(Graph, IsDoneOncePerReplayAndSeesWhatItsAddressesHold) {
  float a[4] = {1, 2, 3, 4}, b[2] = {1, 10}, result[2] = {};
  const void* a_address = &a[0];
  const void* b_address = &b[0];
  void* result_address = &result[0];
  const Product product{.rows = 1, .columns = 1, .depth = 2, .a_stride = 2, .b_stride = 1, .result_stride = 1};
  const Graph graph(nullptr, 1, [&](Work& work) {
    work.side(0).wait_for(work.main());
    work.side(0).multiply(product, IndirectMatrices{&a_address, &b_address, &result_address});
    work.main().wait_for(work.side(0));
    work.main().launch(1, TwiceKernel{&result[0], &result[1]});
  });
  EXPECT_EQ(result[0], 0) << "a recording does nothing yet";
  for (int run = 0; run < 2; ++run) {
    a_address = &a[2 * run];
    Work work(nullptr, nullptr, 0);
    work.main().replay(graph);
    work.finish();
    EXPECT_EQ(result[1], run == 0 ? 42 : 86);
  }
}

TEST(Event, IsWaitedForByTheCallOfAnotherThread) {
  const float one = 1;
  float between = 0, last = 0;
  Event event;
  Work first(nullptr, nullptr, 0);
  first.main().launch(1, TwiceKernel{&one, &between});
  first.main().record(event);
  std::promise<void> begins;
  std::thread other([&] {
    Work second(nullptr, nullptr, 0);
    second.main().wait_for(event);
    second.main().launch(1, TwiceKernel{&between, &last});
    begins.set_value();
    second.finish();
  });
  begins.get_future().wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // without a wait, the other one is done by then
  first.finish();
  other.join();
  EXPECT_EQ(last, 4);
}

TEST(Event, OfWorkThatEndedEarlyIsNotWaitedFor) {
  Event event;
  Work(nullptr, nullptr, 0).main().record(event);
  Work second(nullptr, nullptr, 0);
  second.main().wait_for(event);
  second.finish();
}

TEST(Queue, KeepsAnObjectUntilItsWorkIsDone) {
  auto object = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = object;
  Work work(nullptr, nullptr, 0);
  work.main().keep(std::move(object));
  EXPECT_FALSE(seen.expired());
  work.finish();
  EXPECT_TRUE(seen.expired());
}

TEST(Memory, HoldsNanAtFirst) {
  const Memory memory(8);
  EXPECT_TRUE(std::isnan(static_cast<const float*>(memory.data())[1]));
}

}  // namespace
}  // namespace backgauge::cuda
