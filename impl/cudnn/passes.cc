// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/passes.h"

namespace backgauge::cudnn {

void enqueue_forward(const Network& n, const NetworkSizes& sizes, const Buffers& in, const ForwardOutputs& out) {
  check(cudnnRNNForward(n.handle(), n.rnn(), CUDNN_FWD_MODE_TRAINING, nullptr, n.x(), in.x, n.y(), out.y, n.h(), in.hx,
                        out.hy, n.h(), in.cx, out.cy, sizes.weights, in.weights, sizes.workspace, in.workspace,
                        sizes.reserve, in.reserve),
        "cudnnRNNForward");
}

void enqueue_backward(const Network& n, const NetworkSizes& sizes, cudaStream_t stream, const Buffers& in,
                      const Backward& b) {
  // The gradient of the weights is added to what is there.
  check(cudaMemsetAsync(b.dw, 0, sizes.weights, stream), "cudaMemsetAsync");
  check(cudnnRNNBackwardData_v8(n.handle(), n.rnn(), nullptr, n.y(), b.y, b.dy, n.x(), b.dx, n.h(), in.hx, b.dhy, b.dhx,
                                n.h(), in.cx, b.dcy, b.dcx, sizes.weights, in.weights, sizes.workspace, in.workspace,
                                sizes.reserve, in.reserve),
        "cudnnRNNBackwardData_v8");
  // In this order, on one reserve_space: the first leaves there what the second reads.
  check(cudnnRNNBackwardWeights_v8(n.handle(), n.rnn(), CUDNN_WGRAD_MODE_ADD, nullptr, n.x(), in.x, n.h(), in.hx, n.y(),
                                   b.y, sizes.weights, b.dw, sizes.workspace, in.workspace, sizes.reserve, in.reserve),
        "cudnnRNNBackwardWeights_v8");
}

}  // namespace backgauge::cudnn
