// SPDX-License-Identifier: Apache-2.0
// The ops give the same bits for any placement of their tensors, with vector or scalar accesses, and with or without
// graphs. The judge's bounds cannot check that.
#include "impl/cuda/ops.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "impl/cuda/device_copy.h"
#include "impl/cuda/dropout.h"
#include "impl/cuda/execute.h"
#include "impl/cuda/lstm_steps.h"
#include "impl/plain/philox.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge::cuda {
namespace {

template <class Storage>
constexpr backgauge_dtype kDtype = std::is_same_v<Storage, Half>    ? BACKGAUGE_HALF
                                   : std::is_same_v<Storage, float> ? BACKGAUGE_FLOAT32
                                                                    : BACKGAUGE_FLOAT64;

template <class Storage>
backgauge_status answer_reserve_length(const backgauge_call* call, backgauge_plan* plan, backgauge_message*) {
  plan->reserve_space_length = reserve_length<Storage>(rnn_sizes(validate_shapes(*call).extents, call->attributes));
  return BACKGAUGE_OK;
}

// A call whose tensors begin `shift` elements past a multiple of 64 bytes.
template <class Storage>
class PlacedCall {
 public:
  PlacedCall(const CallSetup& setup, std::size_t shift) : call_(setup, answer_reserve_length<Storage>) {
    std::mt19937 random(1);
    const std::size_t unit = backgauge_dtype_bytes(setup.dtype);
    for (auto* tensors : {&call_.inputs, &call_.outputs}) {
      for (backgauge_tensor& tensor : *tensors) {
        if (tensor.dtype == BACKGAUGE_INT64) continue;
        const auto count = static_cast<std::size_t>(backgauge_elements(&tensor));
        memory_.emplace_back(count * unit + 256);
        auto* base = memory_.back().data();
        base += (64 - reinterpret_cast<std::uintptr_t>(base) % 64) % 64 + shift * unit;
        tensor.data = base;
        std::vector<double> values(count);
        for (double& value : values) value = static_cast<double>(random()) * 0x1p-32;
        encode(setup.dtype, values, base);
      }
    }
    call_.link();
  }

  void run() {
    Workspace count;
    execute(count);
    std::vector<std::byte> memory(count.bytes() + Workspace::kAlignment);
    const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % Workspace::kAlignment;
    Workspace workspace(memory.data() + (Workspace::kAlignment - past) % Workspace::kAlignment);
    execute(workspace);
    workspace.expect_untouched_guards();
  }

  const backgauge_call& call() const { return call_.call; }

  std::string outputs() const {
    std::string bytes;
    for (const backgauge_tensor& tensor : call_.outputs) {
      bytes.append(static_cast<const char*>(tensor.data),
                   static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype));
    }
    return bytes;
  }

 private:
  void execute(Workspace& workspace) const {
    cuda::execute(call_.call, validate_shapes(call_.call).extents, workspace);
  }

  OwnedCall call_;
  std::vector<std::vector<std::byte>> memory_;
};

template <class Storage>
std::string outputs_of(const CallSetup& setup, std::size_t shift) {
  PlacedCall<Storage> call(setup, shift);
  call.run();
  return call.outputs();
}

template <class Storage>
std::vector<CallSetup> setups() {
  std::vector<CallSetup> all;
  for (const bool peephole : {false, true}) {
    for (const std::int64_t H : {8, 24, 264}) {
      for (const std::int64_t B : {1, 3, 8}) {
        for (const std::int64_t S : {0, 1, 3, 4, 9}) {  // 0: the cell
          CallSetup setup{
              BACKGAUGE_LSTM_BLOCK_CELL_GRAD, kDtype<Storage>, {}, {.B = B, .I = 8, .H = H, .peephole = peephole}};
          setup.attributes.use_peephole = peephole ? 1 : 0;
          if (S > 0) {
            setup.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
            setup.extents.T = S + 1;
            setup.extents.S = S;
          }
          all.push_back(setup);
        }
      }
    }
  }
  return all;
}

template <class Storage>
void expect_same_bits() {
  for (const CallSetup& setup : setups<Storage>()) {
    const Extents& e = setup.extents;
    SCOPED_TRACE("T " + std::to_string(e.T) + " B " + std::to_string(e.B) + " H " + std::to_string(e.H));
    const std::string aligned = outputs_of<Storage>(setup, 0);
    EXPECT_EQ(outputs_of<Storage>(setup, 1), aligned) << "elsewhere in memory";
    if (setup.op != BACKGAUGE_BLOCK_LSTM_GRAD_V2) continue;
    prepare_graphs(PlacedCall<Storage>(setup, 0).call(), e);
    EXPECT_EQ(outputs_of<Storage>(setup, 0), aligned) << "with a graph";
    EXPECT_EQ(outputs_of<Storage>(setup, 1), aligned) << "with a graph, elsewhere in memory";
  }
}

// The random values are not states of a network, but that does not matter for placement.
template <class Storage>
void expect_same_bits_of_rnn() {
  for (const std::int32_t mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const std::int64_t D : {1, 2}) {
      for (const std::int64_t I : {5, 24}) {  // 24: skip_input
        for (const backgauge_op op : {BACKGAUGE_CUDNN_RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
          for (const float dropout : {0.0f, 0.5f}) {
            CallSetup setup{op, kDtype<Storage>, {}, {.T = 3, .B = 5, .I = I, .H = 24, .L = 3, .D = D}};
            setup.extents.lstm = mode == BACKGAUGE_LSTM;
            setup.attributes.rnn_mode = mode;
            setup.attributes.input_mode = BACKGAUGE_AUTO_SELECT;
            setup.attributes.direction = D == 2 ? BACKGAUGE_BIDIRECTIONAL : BACKGAUGE_UNIDIRECTIONAL;
            setup.attributes.dropout = dropout;
            SCOPED_TRACE(std::string(find_op(op)->word) + " mode " + std::to_string(mode) + " D " + std::to_string(D) +
                         " I " + std::to_string(I));
            EXPECT_EQ(outputs_of<Storage>(setup, 1), outputs_of<Storage>(setup, 0)) << "elsewhere in memory";
          }
        }
      }
    }
  }
}

TEST(Ops, GiveTheSameBitsInHalf) { expect_same_bits<Half>(); }
TEST(Ops, GiveTheSameBitsInFloat) { expect_same_bits<float>(); }
TEST(Ops, GiveTheSameBitsInHalfOfRnn) { expect_same_bits_of_rnn<Half>(); }
TEST(Ops, GiveTheSameBitsInFloatOfRnn) { expect_same_bits_of_rnn<float>(); }
TEST(Ops, GiveTheSameBitsInDoubleOfRnn) { expect_same_bits_of_rnn<double>(); }

// `plain` has its own Philox.
TEST(Dropout, DrawsTheMaskOfPlain) {
  constexpr std::int64_t kCount = 1027;
  const std::vector<float> y(kCount, 1);
  for (const auto [seed, seed2, gap, direction] :
       {std::array<std::int64_t, 4>{0, 0, 0, 0}, {5, 7, 1, 1}, {-1, 3, 2, 0}, {4, -9, 5, 1}}) {
    for (const float dropout : {0.25f, 0.5f, 1.0f}) {
      std::vector<std::uint8_t> keep(kCount, 9);
      std::vector<float> x(kCount);
      const float scale = dropout_scale<float>(dropout);
      Work work(nullptr, nullptr, 0);
      work.main().launch(DropoutKernel<float>::blocks(kCount), DropoutKernel<float>{y.data(),
                                                                                    keep.data(),
                                                                                    {x.data()},
                                                                                    kCount,
                                                                                    dropout_key(seed, seed2),
                                                                                    gap,
                                                                                    direction,
                                                                                    static_cast<double>(dropout),
                                                                                    scale});
      work.finish();
      for (std::int64_t k = 0; k < kCount; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const bool want = plain::kept(plain::seed_of(seed, seed2), gap, direction, k, dropout);
        ASSERT_EQ(keep[at], want ? 1 : 0) << k;
        ASSERT_EQ(x[at], want ? scale : 0) << k;
      }
    }
  }
}

TEST(StepGraphs, AreKeptForTheShapesUsedLast) {
  StepShape shape{.B = 1, .H = 1000, .indirect = true};
  const auto prepare = [&](std::int64_t H) {
    shape.H = H;
    prepare_step_graph<float>(shape);
    return find_step_graph<float>(shape);
  };
  const auto first = prepare(1000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(prepare(1000), first);
  for (std::int64_t H = 1001; H < 1009; ++H) EXPECT_NE(prepare(H), nullptr);
  EXPECT_EQ((shape.H = 1000, find_step_graph<float>(shape)), nullptr);
  EXPECT_NE(first->place(), nullptr) << "it stays valid while the pointer is held";
}

TEST(DeviceCopy, IsTheSameCallInOtherMemory) {
  CallSetup setup{BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_FLOAT32, {}, {.T = 5, .B = 3, .I = 2, .H = 4, .S = 4}};
  PlacedCall<float> original(setup, 0), copied(setup, 0);
  const std::string before = copied.outputs();
  original.run();
  DeviceCopy copy(copied.call(), BACKGAUGE_HOST);
  const Extents extents = validate_shapes(copy.call()).extents;
  Workspace count;
  block_lstm_grad_v2(BlockLstmGradV2Call<float>::bind(copy.call(), extents), count, nullptr);
  copy.fill(count.bytes());
  Workspace workspace(copy.call().workspace);
  block_lstm_grad_v2(BlockLstmGradV2Call<float>::bind(copy.call(), extents), workspace, nullptr);
  EXPECT_EQ(copied.outputs(), before);
  copy.fetch_outputs();
  EXPECT_EQ(copied.outputs(), original.outputs());
}

}  // namespace
}  // namespace backgauge::cuda
