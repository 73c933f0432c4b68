// SPDX-License-Identifier: Apache-2.0
// The ops. Each first takes its memory from the workspace; if that only counts, it does nothing else, and reads only
// the sizes and attributes of the call. Otherwise the call has been validated, its tensors are in memory of the
// backend, and all work is done in the order of `stream`.
#pragma once

#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

template <class Storage>
void lstm_block_cell_grad(const LstmBlockCellGradCall<Storage>& call, Workspace& workspace, void* stream);

template <class Storage>
void block_lstm_grad_v2(const BlockLstmGradV2Call<Storage>& call, Workspace& workspace, void* stream);

// Allocates and keeps what calls of these extents on the current device use only for speed.
template <class Storage>
void prepare_block_lstm_grad_v2(const Extents& extents);

template <class Storage>
void cudnn_rnn_forward(const CudnnRnnCall<Storage>& call, Workspace& workspace, void* stream);

template <class Storage>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Storage>& call, Workspace& workspace, void* stream);

}  // namespace backgauge::cuda
