// SPDX-License-Identifier: Apache-2.0
// The two passes of a network, on memory as cuDNN wants it.
#pragma once

#include "impl/cudnn/network.h"

namespace backgauge::cudnn {

// As cuDNN names them; of the shapes that the network's descriptors say. c and its gradients are NULL but for an LSTM.
struct Buffers {
  const void *x, *hx, *cx, *weights;
  void *workspace, *reserve;
};
struct ForwardOutputs {
  void *y, *hy, *cy;
};
struct Backward {
  const void *y, *dy, *dhy, *dcy;
  void *dx, *dhx, *dcx, *dw;
};

// Enqueue on the stream, which is that of the handle. Throw CallError.
void enqueue_forward(const Network& n, const NetworkSizes& sizes, const Buffers& buffers,
                     const ForwardOutputs& outputs);
void enqueue_backward(const Network& n, const NetworkSizes& sizes, cudaStream_t stream, const Buffers& buffers,
                      const Backward& backward);

}  // namespace backgauge::cudnn
