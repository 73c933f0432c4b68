// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/settings.h"
#include "impl/cuda/execute.h"
#include "impl/cuda/ops.h"
#include "impl/cuda/rnn_trace.h"
#include "impl/cuda/widened_call.h"
#include "impl/storage.h"

namespace backgauge::cuda {
namespace {

template <class Storage>
void execute_as(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.op) {
    case BACKGAUGE_CUDNN_RNN:
      return cudnn_rnn_forward(CudnnRnnCall<Storage>::bind(call, extents), workspace, call.stream);
    case BACKGAUGE_CUDNN_RNN_BACKPROP:
      return cudnn_rnn_backprop(CudnnRnnBackpropCall<Storage>::bind(call, extents), workspace, call.stream);
    default: break;
  }
  if constexpr (!std::is_same_v<Storage, double>) {
    if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
      lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call, extents), workspace, call.stream);
    } else {
      block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call, extents), workspace, call.stream);
    }
  }
}

// The cell has no products, so its floats are never stored as half.
bool is_widened(const backgauge_call& call) {
  if (call.dtype == BACKGAUGE_BFLOAT16) return true;  // no op has kernels for it
  return call.dtype == BACKGAUGE_HALF && call.op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD && !settings().half_operands;
}

}  // namespace

void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  if (!is_widened(call)) {
    return with_storage(call.dtype, [&](auto storage) {
      using Storage = decltype(storage);
      if constexpr (!std::is_same_v<Storage, Bfloat16>) execute_as<Storage>(call, extents, workspace);
    });
  }
  const WidenedCall widened(call, extents, workspace);
  if (!workspace.counts_only()) widened.widen_inputs();
  execute_as<float>(widened.call(), extents, workspace);
  if (!workspace.counts_only()) widened.round_outputs();
}

void prepare_graphs(const backgauge_call& call, const Extents& extents) {
  if (call.op != BACKGAUGE_BLOCK_LSTM_GRAD_V2) return;
  const bool in_half = call.dtype == BACKGAUGE_HALF && !is_widened(call);
  in_half ? prepare_block_lstm_grad_v2<Half>(extents) : prepare_block_lstm_grad_v2<float>(extents);
}

std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents) {
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  return with_storage(call.dtype, [&](auto storage) { return reserve_length<decltype(storage)>(sizes); });
}

}  // namespace backgauge::cuda
