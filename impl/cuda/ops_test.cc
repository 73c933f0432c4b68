// SPDX-License-Identifier: Apache-2.0
// The ops give the same bits wherever their tensors lie, in vectors or one by one, and with graphs or without: what the
// judge's bounds cannot see.
#include "impl/cuda/ops.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "impl/cuda/lstm_steps.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge::cuda {
namespace {

// A call whose tensors begin `shift` elements past a multiple of 64 bytes.
class PlacedCall {
 public:
  PlacedCall(const CallSetup& setup, std::size_t shift) : call_(setup) {
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

  template <class Storage>
  void run() {
    const Extents extents = validate_shapes(call_.call).extents;
    const auto execute = [&](Workspace& workspace) {
      if (call_.call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
        lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call_.call, extents), workspace, nullptr);
      } else {
        block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call_.call, extents), workspace, nullptr);
      }
    };
    Workspace count;
    execute(count);
    std::vector<std::byte> memory(count.bytes() + Workspace::kAlignment);
    const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % Workspace::kAlignment;
    Workspace workspace(memory.data() + (Workspace::kAlignment - past) % Workspace::kAlignment);
    execute(workspace);
    workspace.expect_untouched_guards();
  }

  std::string outputs() const {
    std::string bytes;
    for (const backgauge_tensor& tensor : call_.outputs) {
      bytes.append(static_cast<const char*>(tensor.data),
                   static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype));
    }
    return bytes;
  }

 private:
  OwnedCall call_;
  std::vector<std::vector<std::byte>> memory_;
};

template <class Storage>
std::string outputs_of(const CallSetup& setup, std::size_t shift) {
  PlacedCall call(setup, shift);
  call.run<Storage>();
  return call.outputs();
}

template <class Storage>
std::vector<CallSetup> setups() {
  constexpr auto kDtype = std::is_same_v<Storage, Half> ? BACKGAUGE_HALF : BACKGAUGE_FLOAT32;
  std::vector<CallSetup> all;
  for (const bool peephole : {false, true}) {
    for (const std::int64_t H : {8, 24, 264}) {
      for (const std::int64_t B : {1, 3, 8}) {
        for (const std::int64_t S : {0, 1, 3, 4, 9}) {  // 0: the cell
          CallSetup setup{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, kDtype, {}, {.B = B, .I = 8, .H = H, .peephole = peephole}};
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
    prepare_block_lstm_grad_v2<Storage>(e);
    EXPECT_EQ(outputs_of<Storage>(setup, 0), aligned) << "with a graph";
    EXPECT_EQ(outputs_of<Storage>(setup, 1), aligned) << "with a graph, elsewhere in memory";
  }
}

TEST(Ops, GiveTheSameBitsInHalf) { expect_same_bits<Half>(); }
TEST(Ops, GiveTheSameBitsInFloat) { expect_same_bits<float>(); }

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
  EXPECT_NE(first->place(), nullptr) << "whoever holds it keeps it";
}

}  // namespace
}  // namespace backgauge::cuda
