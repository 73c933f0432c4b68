// SPDX-License-Identifier: Apache-2.0
// The checks of the host backend, with kernels and queues that each break one rule.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "impl/cuda/device/host/multiply.h"
#include "impl/cuda/device/plain_product.h"
#include "impl/cuda/device/work.h"
#include "impl/cuda/operand.h"
#include "impl/cuda/workspace.h"

namespace backgauge::cuda {
namespace {

template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const CallError& error) {
    EXPECT_EQ(error.status(), BACKGAUGE_INTERNAL);
    return error.what();
  }
  return "";
}

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

// Sets *to to *from, which only one thread has set when it is done.
struct CopyKernel {
  static constexpr int kThreads = 1, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  const float* from;
  float* to;

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread&, Shared&, Local&) const {
    *to = *from;
  }
};

TEST(Event, IsWaitedForByTheCallOfAnotherThread) {
  const float one = 1;
  float between = 0, last = 0;
  Event event;
  Work first(nullptr, nullptr, 0);
  first.main().launch(1, CopyKernel{&one, &between});
  first.main().record(event);
  std::promise<void> begins;
  std::thread other([&] {
    Work second(nullptr, nullptr, 0);
    second.main().wait_for(event);
    second.main().launch(1, CopyKernel{&between, &last});
    begins.set_value();
    second.finish();
  });
  begins.get_future().wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // without a wait, the other one is done by then
  first.finish();
  other.join();
  EXPECT_EQ(last, 1);
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

// Small integers: exact in every type and order.
template <class Storage, class Result>
void expect_product(bool a_transposed, bool b_transposed, bool added) {
  constexpr std::int64_t kRows = 3, kColumns = 5, kDepth = 4, kGap = 2;
  const auto number = [](std::int64_t row, std::int64_t column) {
    return static_cast<float>((row * 5 + column * 3) % 7 - 3);
  };
  const auto filled = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    std::vector<Storage> out(
        static_cast<std::size_t>((transposed ? columns : rows) * ((transposed ? rows : columns) + kGap)),
        narrow<Storage>(NAN));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t place = transposed ? column * (rows + kGap) + row : row * (columns + kGap) + column;
        out[static_cast<std::size_t>(place)] = narrow<Storage>(number(row, column));
      }
    }
    return out;
  };
  const std::vector<Storage> a = filled(kRows, kDepth, a_transposed), b = filled(kDepth, kColumns, b_transposed);
  const Product product{.rows = kRows,
                        .columns = kColumns,
                        .depth = kDepth,
                        .operands = kType<Storage>,
                        .result = kType<Result>,
                        .a_transposed = a_transposed,
                        .b_transposed = b_transposed,
                        .added = added,
                        .a_stride = (a_transposed ? kRows : kDepth) + kGap,
                        .b_stride = (b_transposed ? kDepth : kColumns) + kGap,
                        .result_stride = kColumns + kGap};
  for (const bool by_kernel : {false, true}) {
    std::vector<Result> result(kRows * (kColumns + kGap), narrow<Result>(1));
    const Matrices matrices{a.data(), b.data(), result.data()};
    if (by_kernel) {
      with_plain_product(product, matrices,
                         [](std::int64_t blocks, const auto& kernel) { run_blocks(blocks, kernel, false); });
    } else {
      host_multiply(product, matrices);
    }
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns + kGap; ++column) {
        float want = added || column >= kColumns ? 1 : 0;
        for (std::int64_t k = 0; k < kDepth && column < kColumns; ++k) want += number(row, k) * number(k, column);
        EXPECT_EQ(static_cast<float>(wide(result[static_cast<std::size_t>(row * (kColumns + kGap) + column)])), want);
      }
    }
  }
}

TEST(Product, IsThatOfPlainLoopsAndOfThePlainKernel) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const bool added : {false, true}) {
        expect_product<Half, Half>(a_transposed, b_transposed, added);
        expect_product<Half, float>(a_transposed, b_transposed, added);
        expect_product<float, float>(a_transposed, b_transposed, added);
        expect_product<double, double>(a_transposed, b_transposed, added);
      }
    }
  }
}

TEST(Tf32, IsTheNearestOfElevenBits) {
  EXPECT_EQ(to_tf32(1), 1);
  EXPECT_EQ(to_tf32(0x1.002p0f), 1);  // ties to even
  EXPECT_EQ(to_tf32(0x1.002002p0f), 0x1.004p0f);
  EXPECT_EQ(to_tf32(-0x1.006p0f), -0x1.008p0f);
  EXPECT_EQ(to_tf32(0x1.ffcp127f), 0x1.ffcp127f);
  EXPECT_EQ(to_tf32(0x1.ffep127f), INFINITY);
  EXPECT_EQ(to_tf32(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(to_tf32(NAN)));
  EXPECT_EQ(to_tf32(0x1p-136f), 0x1p-136f);
  EXPECT_EQ(to_tf32(0x1p-137f), 0);
}

// bounds.md 2.1
TEST(Operand, IsTwoPartsThatTf32Holds) {
  std::mt19937 random(1);
  for (int k = 0; k < 10000; ++k) {
    const float value = std::ldexp(static_cast<float>(random()) * 0x1p-31f - 1, static_cast<int>(random() % 250) - 125);
    float parts[2];
    const float x[1] = {value};
    store_operand(x, Operand<float>{parts, 1});
    EXPECT_EQ(to_tf32(parts[0]), parts[0]);
    EXPECT_EQ(to_tf32(parts[1]), parts[1]);
    EXPECT_LE(std::fabs(parts[1]), 0x1p-11f * std::fabs(value));
    const double lost = static_cast<double>(value) - static_cast<double>(parts[0]) - static_cast<double>(parts[1]);
    EXPECT_LE(std::fabs(lost), 0x1p-22 * std::fabs(static_cast<double>(value)) + 0x1p-126);
  }
}

// 1 + 2^-12 and 1 - 2^-13 in parts: sums and products are exact.
TEST(Operand, OfTwoPartsIsMultipliedThreeTimes) {
  alignas(16) const float a[8] = {1, 0, 0, 0, 0x1p-12f}, b[8] = {1, 0, 0, 0, -0x1p-13f};
  for (const bool added : {false, true}) {
    for (int run = 0; run < 2; ++run) {
      alignas(16) float result[4] = {0x1p-10f};
      const Product product{.rows = 1,
                            .columns = 1,
                            .depth = 1,
                            .added = added,
                            .a_stride = 1,
                            .b_stride = 1,
                            .result_stride = 1,
                            .aligned = true};
      Work work(nullptr, nullptr, 0);
      multiply(work.main(), product, Operand<const float>{a, 4}, Operand<const float>{b, 4}, result);
      work.finish();
      EXPECT_EQ(result[0], (added ? 0x1p-10f : 0) + 1 + 0x1p-12f - 0x1p-13f);
    }
  }
}

TEST(Product, RefusesWhatCublasLtWouldNotTakeOrTakeWrongly) {
  alignas(16) float x[8] = {};
  const Product legal{
      .rows = 1, .columns = 1, .depth = 2, .a_stride = 2, .b_stride = 1, .result_stride = 1, .aligned = true};
  EXPECT_EQ(error_of([&] { host_multiply(legal, {&x[0], &x[4], &x[0]}); }), "");
  EXPECT_EQ(error_of([&] { host_multiply(legal, {&x[1], &x[4], &x[0]}); }), "product: declared aligned and not so");
  const auto refusal = [&](auto change) {
    Product product = legal;
    change(product);
    return error_of([&] { check(product); });
  };
  EXPECT_EQ(refusal([](Product& p) { p.rows = -1; }), "product: sizes below 0");
  EXPECT_EQ(refusal([](Product& p) { p.a_stride = 1; }), "product: rows of a overlap");
  EXPECT_EQ(refusal([](Product& p) { p.b_transposed = true; }), "product: rows of b overlap");
  EXPECT_EQ(refusal([](Product& p) { p.columns = p.b_stride = 2; }), "product: rows of the result overlap");
  EXPECT_EQ(refusal([](Product& p) { p.result = Type::kHalf; }), "product: types");
}

TEST(Workspace, CountsWhatItHandsOutAndWatchesWhatLiesBetween) {
  const auto take = [](Workspace& workspace) {
    return std::pair(workspace.take<float>({3, 5}), workspace.take<Half>({1}));
  };
  Workspace count;
  EXPECT_EQ(take(count).first, nullptr);
  alignas(Workspace::kAlignment) std::array<std::byte, 1024> memory{};
  ASSERT_LE(count.bytes(), memory.size());
  for (const int past : {-1, 0, 15}) {
    Workspace workspace(memory.data());
    const auto [floats, halves] = take(workspace);
    EXPECT_EQ(workspace.bytes(), count.bytes());
    EXPECT_TRUE(std::isnan(floats[14]) && std::isnan(wide(*halves)));
    if (past >= 0) floats[15 + past] = 1;
    EXPECT_EQ(error_of([&] { workspace.expect_untouched_guards(); }),
              past < 0 ? "" : "an array of the workspace was written past its end");
  }
}

TEST(Workspace, KnowsWhenItCannotCount) {
  Workspace count;
  count.take<float>({std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_FALSE(count.countable());
}

}  // namespace
}  // namespace backgauge::cuda
