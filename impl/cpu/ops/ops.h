// SPDX-License-Identifier: Apache-2.0
// The ops. Each first takes its memory from the workspace; if that only counts, it does nothing else, and reads only
// the sizes, attributes and num_threads of the call. Otherwise the call has been validated and is in host memory.
#pragma once

#include "impl/cpu/kernels/scalar.h"
#include "impl/cpu/kernels/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cpu {

template <class Storage>
void lstm_block_cell_grad(const LstmBlockCellGradCall<Storage>& call, Workspace& workspace);

template <class Storage>
void block_lstm_grad_v2(const BlockLstmGradV2Call<Storage>& call, Workspace& workspace);

template <class Storage>
void cudnn_rnn_forward(const CudnnRnnCall<Storage>& call, Workspace& workspace);

template <class Storage>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Storage>& call, Workspace& workspace);

}  // namespace backgauge::cpu
