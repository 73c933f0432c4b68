// SPDX-License-Identifier: Apache-2.0
// The ops. Each first takes its memory from the workspace; if that only counts, it does nothing else, and reads only
// the sizes, attributes and num_threads of the call. Otherwise the call has been validated and is in host memory.
#pragma once

#include "impl/cpu/kernels/scalar.h"
#include "impl/cpu/kernels/workspace.h"
#include "impl/cpu/machine/path.h"
#include "reference/contract/call.h"

namespace backgauge::cpu {

template <class Storage>
void lstm_block_cell_grad(const LstmBlockCellGradCall<Storage>& call, Workspace& workspace);

template <class Storage>
void block_lstm_grad_v2(const BlockLstmGradV2Call<Storage>& call, Workspace& workspace);

// A training forward. shares_masks: both directions of a layer read the one below through the mask of the first.
template <class Storage>
struct CudnnRnnForwardCall {
  CudnnRnnCall<Storage> op;
  bool shares_masks = false;
};

template <class Storage>
void cudnn_rnn_forward(const CudnnRnnForwardCall<Storage>& call, Workspace& workspace);

template <class Storage>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Storage>& call, Workspace& workspace);

}  // namespace backgauge::cpu

// Defines `op` for calls of type Call<Half> and Call<float>: calls the function of the same name that was
// compiled for the instruction set of this process.
#define BACKGAUGE_OP_ON_PATH(op, Call)                 \
  template <class S>                                   \
  void op(const Call<S>& call, Workspace& workspace) { \
    BACKGAUGE_ON_PATH(op(call, workspace));            \
  }                                                    \
  template void op(const Call<Half>&, Workspace&);     \
  template void op(const Call<float>&, Workspace&);

// The same for every storage type.
#define BACKGAUGE_OP_ON_PATH_OF_EVERY_TYPE(op, Call)   \
  BACKGAUGE_OP_ON_PATH(op, Call)                       \
  template void op(const Call<Bfloat16>&, Workspace&); \
  template void op(const Call<double>&, Workspace&);
