// SPDX-License-Identifier: Apache-2.0
// The ops on oneDNN, float32 in host memory. Each first takes its memory; if that is only counted, it does nothing else
// and looks at the sizes, attributes and num_threads of the call alone. Otherwise the call is validated.
#pragma once

#include "impl/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::onednn {

// Aligned to what oneDNN lays out its workspace for.
using Workspace = backgauge::Workspace<4096>;

// The parts of BlockLSTMGradV2, so that they can be timed one by one. What a part leaves in the workspace, the next
// one finds there.
enum Phase : unsigned {
  kFill = 1,         // the saved tensors go to where oneDNN's forward would have left them
  kLoadWeights = 2,  // w to oneDNN's layout; gradients that it adds to become 0
  kCompute = 4,      // the primitive alone
  kStore = 8,        // w_grad back from oneDNN's layout
  kAllPhases = 15
};

void block_lstm_grad_v2(const BlockLstmGradV2Call<float>& call, Workspace& memory, unsigned phases);

void cudnn_rnn_forward(const CudnnRnnCall<float>& call, Workspace& memory);
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<float>& call, Workspace& memory);

// Elements of reserve_space.
std::int64_t reserve_length(const Extents& extents, const backgauge_attributes& attributes, int num_threads);

}  // namespace backgauge::onednn
