// SPDX-License-Identifier: Apache-2.0
// The ops. Each first takes its memory from the workspace; if that only counts, it does nothing else and looks at the
// sizes and attributes of the call alone. Otherwise the call is validated, its tensors lie in the memory of the
// backend, and all is done in the order of `stream`.
#pragma once

#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

template <class Storage>
void lstm_block_cell_grad(const LstmBlockCellGradCall<Storage>& call, Workspace& workspace, void* stream);

template <class Storage>
void block_lstm_grad_v2(const BlockLstmGradV2Call<Storage>& call, Workspace& workspace, void* stream);

// What it allocates for calls of these extents on the current device, and keeps: they need it for nothing but speed.
template <class Storage>
void prepare_block_lstm_grad_v2(const Extents& extents);

template <class Storage>
void cudnn_rnn_forward(const CudnnRnnCall<Storage>& call, Workspace& workspace, void* stream);

template <class Storage>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Storage>& call, Workspace& workspace, void* stream);

}  // namespace backgauge::cuda
