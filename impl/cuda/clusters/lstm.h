// SPDX-License-Identifier: Apache-2.0
// The serial part of BlockLSTMGradV2 in clusters.
#pragma once

#include "impl/cuda/clusters/plan.h"
#include "impl/cuda/lstm_cell.h"
#include "impl/cuda/operand.h"

namespace backgauge::cuda {

// The inputs are those of T steps, of which S are done.
template <class Storage>
struct LstmTensors : LstmInputs<Storage> {
  const Storage* w_h;                   // [H, 4H], gates i, f, c, o
  Operand<Storage> dgates;              // [S, B, 4H]
  Storage *h_prev_grad, *cs_prev_grad;  // [B, H]
};

template <class Storage>
ClusterPlan plan_lstm_clusters(const RecurrenceSizes& sizes, bool peephole, int blocks);

// Enqueues all S steps: the gate gradients, those of the states before the first step, and the sums over the rows of
// each cluster, [clusters, cell_sums(true, peephole), H].
template <class Storage>
void go_back_in_clusters(Queue& queue, const RecurrenceSizes& sizes, bool peephole, int blocks,
                         const LstmTensors<Storage>& tensors, float* sums);

}  // namespace backgauge::cuda
