// SPDX-License-Identifier: Apache-2.0
// The ops: CudnnRNN's training forward, CudnnRNNBackprop, and the mask of its dropout.
#pragma once

#include "impl/cudnn/network.h"
#include "impl/cudnn/workspace.h"

namespace backgauge::cudnn {

// On input a validated call and its extents. Where the workspace only counts, nothing is enqueued. Throw CallError.
void cudnn_rnn_forward(const backgauge_call& call, const Extents& extents, Workspace& memory);
void cudnn_rnn_backprop(const backgauge_call& call, const Extents& extents, Workspace& memory);

// Elements of reserve_space.
std::int64_t reserve_length(const backgauge_call& call, const Extents& extents);

// keep[T, B, D * H] in host memory, of the mask gap * D + direction, where `gap` is in 0..L-2 and `direction` that of
// the layer after it which reads through the mask, of a call with 0 < dropout < 1. cuDNN does not expose its masks:
// they are read from the outputs of special networks. Relies on masks being a function of seed, dropout and T, B, H, L,
// D alone.
void reveal_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask, std::uint8_t* keep);

// The key of the random numbers, as TensorFlow makes it. reference/semantics.md 3.6.
std::uint64_t dropout_seed(const backgauge_attributes& attributes);

}  // namespace backgauge::cudnn
