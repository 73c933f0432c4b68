// SPDX-License-Identifier: Apache-2.0
// Promises of a device implementation that the judge's bounds cannot check: its runs give the same bits, also while
// another stream is busy, and a run can be captured into a CUDA graph that gives these bits, too.
//   BACKGAUGE_TEST_DEVICE_IMPL   the implementation: a name or the path of a shared library. By default `cuda`, if it
//                                is in this build, and then it must offer what is asked here.
// SKIPPED where there is no device, unless an implementation or, by BACKGAUGE_CUDART, a runtime library was named.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "impl/registry.h"
#include "perf/call/timed_call.h"
#include "properties/case/draw/inputs.h"
#include "properties/device/runtime.h"
#include "properties/device/testing/captured_graph.h"
#include "properties/judge/compare/claims.h"

namespace backgauge {
namespace {

constexpr int kRepeats = 20, kReplays = 3;

// Written by the other stream during each run: 60 us at the 4.3 TB/s of an H200, as long as a run of the small cases.
constexpr std::size_t kBusy = std::size_t{256} << 20;

// Odd and aligned sizes, every op and the dtypes that kernels differ in.
constexpr const char* kSmall[] = {
    "lstm_block_cell_grad b5i7h33 peep=1 dt=f32 data=strat:0x1",
    "lstm_block_cell_grad b8i16h64 peep=0 dt=f16 data=strat:0x1",
    "block_lstm_grad_v2 t3b5i7h33 peep=1 dt=f32 data=strat:0x1",
    "block_lstm_grad_v2 t3b5i7h33 peep=0 dt=f16 data=strat:0x1",
    "block_lstm_grad_v2 t40b8i16h64 peep=0 dt=f16 data=training:0x1",
    "cudnn_rnn_backprop t3b5i7h33 mode=lstm layers=2 drop=0.5 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b4i8h64 mode=gru dir=bi dt=f16 data=training:0x1",
};

// Workloads that fill a device.
constexpr const char* kLarge[] = {
    "block_lstm_grad_v2 t25b64i512h512 peep=0 dt=f16 data=training:0x1",
    "block_lstm_grad_v2 t25b64i512h512 peep=0 dt=f32 data=training:0x1",
};

class DeviceCallTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* given = std::getenv("BACKGAUGE_TEST_DEVICE_IMPL");
    if (!device::absence().empty()) {
      // What was asked for is never skipped.
      ASSERT_TRUE(given == nullptr && std::getenv("BACKGAUGE_CUDART") == nullptr) << device::absence();
      GTEST_SKIP() << device::absence();
    }
    if (given == nullptr && std::ranges::count(device_names(), "cuda") == 0)
      GTEST_SKIP() << "cuda is not in this build";
    std::string error;
    implementation_ = open_implementation(given != nullptr ? given : "cuda", error);
    ASSERT_NE(implementation_, nullptr) << error;
    ASSERT_EQ(implementation_->memory_space, BACKGAUGE_CUDA);
    const std::optional<Case> c = parse_case(GetParam(), error);
    ASSERT_TRUE(c) << error;
    filled_ = fill(*c);
    ASSERT_EQ(filled_.error, "");
    claims_ = claims_of(*implementation_, c->op);
    std::string reason = unclaimed(claims_, filled_.problem, filled_.facts);
    if (reason.empty() && claims_->determinism[c->dtype] != BACKGAUGE_BITWISE) {
      reason = "does not claim to give the same bits";
    }
    ASSERT_TRUE(given != nullptr || reason.empty()) << reason;
    if (!reason.empty()) GTEST_SKIP() << reason;
    call_ = std::make_unique<TimedCall>(*implementation_, filled_.problem, LoadOptions{});
  }

  // Poison first: what is not written differs from every run. In every other run the workspace is NaN: what is read
  // from it before it is written makes a difference. compute-sanitizer's initcheck cannot be asked instead: on an H200
  // it reported 363,280 reads of results of cuBLASLt as uninitialized, in calls that were right and gave the same bits.
  void enqueue() {
    poison();
    call_->enqueue();
  }

  void poison() {
    call_->poison_outputs();
    call_->fill_workspace(kFills[runs_++ % kFills.size()]);
  }

  std::vector<std::vector<double>> outputs() {
    std::vector<std::vector<double>> out;
    for (GivenTensor& output : call_->outputs()) out.push_back(std::move(output.values));
    return out;
  }

  // The names of the outputs that are not those of `first`, bit for bit.
  std::string differences(const std::vector<std::vector<double>>& first) {
    std::string names;
    const std::vector<GivenTensor> now = call_->outputs();
    for (std::size_t k = 0; k < now.size(); ++k) {
      const std::size_t bytes = first[k].size() * sizeof(double);
      if (std::memcmp(first[k].data(), now[k].values.data(), bytes) != 0) names += " " + now[k].name;
    }
    return names;
  }

  static constexpr std::array<std::byte, 2> kFills{std::byte{0xff}, std::byte{0x3c}};

  const backgauge_implementation* implementation_ = nullptr;
  std::size_t runs_ = 0;
  std::optional<Claims> claims_;
  Filled filled_;
  std::unique_ptr<TimedCall> call_;
};

TEST_P(DeviceCallTest, RepeatsBitForBit) {
  enqueue();
  const auto first = outputs();
  for (int run = 0; run < kRepeats; ++run) {
    enqueue();
    ASSERT_EQ(differences(first), "") << "run " << run;
  }
}

TEST_P(DeviceCallTest, RepeatsWhileAnotherStreamIsBusy) {
  enqueue();
  const auto first = outputs();
  const device::Stream other;
  const device::Memory busy(kBusy, alignof(double));
  for (int run = 0; run < kRepeats; ++run) {
    busy.fill(static_cast<std::byte>(run), other);
    enqueue();
    ASSERT_EQ(differences(first), "") << "run " << run;
  }
  other.synchronize();
}

TEST_P(DeviceCallTest, IsTheSameInAGraph) {
  enqueue();
  const auto direct = outputs();
  const device::CapturedGraph graph(call_->stream(), [&] { enqueue(); });
  const device::CapturedGraph of_poison(call_->stream(), [&] { poison(); });
  EXPECT_GT(graph.nodes(), of_poison.nodes()) << "the graph has no more than the poison";
  for (int replay = 0; replay < kReplays; ++replay) {
    graph.launch(call_->stream());
    ASSERT_EQ(differences(direct), "") << "replay " << replay;
  }
}

INSTANTIATE_TEST_SUITE_P(Small, DeviceCallTest, ::testing::ValuesIn(kSmall));
INSTANTIATE_TEST_SUITE_P(Large, DeviceCallTest, ::testing::ValuesIn(kLarge));

}  // namespace
}  // namespace backgauge
