// SPDX-License-Identifier: Apache-2.0
// The table: choice of op and storage type.
#include <algorithm>
#include <string>

#include "impl/cpu/machine/path.h"
#include "impl/cpu/ops/ops.h"
#include "impl/cpu/ops/rnn_trace.h"
#include "impl/cpu/table/cpu.h"
#include "impl/storage.h"
#include "impl/table_of_ops.h"

namespace backgauge {
namespace cpu {
namespace {

// Whether both directions of a layer read the one below through one mask.
enum class Masks { kPerDirection, kShared };

template <class Storage, Masks kMasks>
void execute_as(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.op) {
    case BACKGAUGE_CUDNN_RNN:
      return cudnn_rnn_forward(
          CudnnRnnForwardCall<Storage>{CudnnRnnCall<Storage>::bind(call, extents), kMasks == Masks::kShared},
          workspace);
    case BACKGAUGE_CUDNN_RNN_BACKPROP:
      return cudnn_rnn_backprop(CudnnRnnBackpropCall<Storage>::bind(call, extents), workspace);
    default: break;
  }
  if constexpr (!std::is_same_v<Storage, double> && !std::is_same_v<Storage, Bfloat16>) {
    if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
      lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call, extents), workspace);
    } else {
      block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call, extents), workspace);
    }
  }
}

template <Masks kMasks>
void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  with_storage(call.dtype, [&](auto storage) { execute_as<decltype(storage), kMasks>(call, extents, workspace); });
}

std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents) {
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  return with_storage(call.dtype, [&](auto storage) { return reserve_length<decltype(storage)>(sizes); });
}

// The masks follow the values, as bytes, whatever the storage type. reserve_space has one for each direction; shared
// ones are equal.
template <Masks kMasks>
void copy_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask, std::uint8_t* keep) {
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  with_storage(call.dtype, [&](auto storage) {
    using Storage = decltype(storage);
    const auto bound = CudnnRnnBackpropCall<Storage>::bind(call, extents);
    Workspace none;
    const RnnTrace<Storage, const std::byte> trace(sizes, reinterpret_cast<const std::byte*>(bound.reserve_space),
                                                   none);
    if (const std::uint8_t* kept = trace.keep(kMasks == Masks::kShared ? sizes.mask(mask, 0) : mask)) {
      std::copy_n(kept, sizes.gap(), keep);
    } else {
      std::fill_n(keep, sizes.gap(), std::uint8_t{1});
    }
  });
}

template <Masks kMasks>
std::vector<Claims> claims() {
  Claims rnn(BACKGAUGE_CUDNN_RNN_BACKPROP);
  rnn.relu_slope_at_zero = true;
  rnn.masks_per_direction = kMasks == Masks::kPerDirection;
  return {Claims(BACKGAUGE_LSTM_BLOCK_CELL_GRAD), Claims(BACKGAUGE_BLOCK_LSTM_GRAD_V2), rnn};
}

template <Masks kMasks>
constexpr TableOps<Workspace> kOps{claims<kMasks>, execute<kMasks>, reserve_length_of, copy_mask<kMasks>};

// The path that this process uses is part of the version, since bits and times depend on it.
template <Masks kMasks>
const backgauge_implementation* table(std::string& error) {
  error = path_refusal();
  if (!error.empty()) return nullptr;
  static const std::string version = "2 " + std::string(path_word());
  static const backgauge_implementation implementation = Table<kOps<kMasks>>::make(
      "cpu", version.c_str(), "hoisted products on packed weights, fused pointwise steps, vectors and threads");
  return &implementation;
}

}  // namespace
}  // namespace cpu

const backgauge_implementation* cpu_implementation(std::string& error) {
  return cpu::table<cpu::Masks::kPerDirection>(error);
}

const backgauge_implementation* cpu_with_shared_masks(std::string& error) {
  return cpu::table<cpu::Masks::kShared>(error);
}

}  // namespace backgauge
