// SPDX-License-Identifier: Apache-2.0
// The serial part of BlockLSTMGradV2 as one launch of LstmClusterKernel, where it is asked for and fits.
#pragma once

#include "impl/cuda/device/work.h"
#include "impl/cuda/lstm_cluster_kernel.h"

namespace backgauge::cuda {

struct ClusterPlan {
  int blocks = 0;          // of a cluster; 0: there are no clusters, steps are done one by one
  int rows = 0;            // of the batch, of a cluster
  std::int64_t count = 0;  // of clusters

  explicit operator bool() const { return blocks > 0; }
};

// For these extents on the current device, with `blocks` blocks; 0 gives no clusters, and so do extents for which W_h
// does not fit into the memory of the blocks, or a device that cannot run such clusters. Always the same for the same
// arguments and device.
template <class Storage>
ClusterPlan plan_clusters(const Extents& extents, int blocks);

// Enqueues all S steps, at least 1: the gate gradients, those of the states before the first step, and the sums over
// rows of each cluster.
template <class Storage>
void go_back_in_clusters(Queue& queue, const ClusterPlan& plan, const Extents& extents,
                         const ClusterTensors<Storage>& tensors);

}  // namespace backgauge::cuda
