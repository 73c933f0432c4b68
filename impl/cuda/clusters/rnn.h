// SPDX-License-Identifier: Apache-2.0
// The serial part of one pseudo-layer of CudnnRNNBackprop in clusters.
#pragma once

#include "impl/cuda/clusters/plan.h"
#include "impl/cuda/operand.h"

namespace backgauge::cuda {

// The tensors of one layer and direction, [B, H] unless noted. Rows of y and of its gradient are y_stride elements
// apart, and start at the columns of the direction; all others are dense.
template <class Storage>
struct RnnClusterTensors {
  const Storage *kept, *y;           // values of all steps: rnn_trace.h
  const Storage *input_h, *input_c;  // input_c: lstm
  const Storage* R;                  // [G, H, H], gates in the order of params
  const Storage* output_backprop;    // [T, B, ...], for the last layer, else nullptr
  const Compute<Storage>* dy;        // the same for other layers
  const Storage *output_h_backprop, *output_c_backprop;
  Operand<Storage> dgates;      // [T, B, gradients, H]
  Compute<Storage>* gate_sums;  // with skip_input [T, B, H]: of the input side, else nullptr
  Storage *input_h_backprop, *input_c_backprop;
  std::int64_t y_stride;
  bool backwards;  // the second direction
};

template <class Storage>
ClusterPlan plan_rnn_clusters(std::int32_t rnn_mode, const RecurrenceSizes& sizes, int blocks);

// Enqueues all T steps, and stores the sums over the rows of each cluster, [clusters, gradients, H].
template <class Storage>
void go_back_in_clusters(Queue& queue, std::int32_t rnn_mode, const RecurrenceSizes& sizes, int blocks,
                         const RnnClusterTensors<Storage>& tensors, float* sums);

}  // namespace backgauge::cuda
