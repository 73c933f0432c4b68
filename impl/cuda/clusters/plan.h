// SPDX-License-Identifier: Apache-2.0
// Decides whether a recurrence is computed in clusters, and by which kernel.
#pragma once

#include <algorithm>
#include <type_traits>

#include "impl/cuda/clusters/kernel.h"
#include "impl/cuda/clusters/weights.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

struct ClusterPlan {
  int blocks = 0;          // of a cluster; 0: there are no clusters, steps are done one by one
  int rows = 0;            // of the batch, of a cluster
  std::int64_t count = 0;  // of clusters

  explicit operator bool() const { return blocks > 0; }
};

template <class... Weights>
struct WeightChoices {};

// The first that fits is taken. What is in registers takes about 128 of the 255 of a thread at most. With more gates
// than one, W_h of 1024 units does not fit.
template <int kGates>
constexpr auto weight_choices(Half) {
  using Few = WeightChoices<HalfClusterWeights<kGates, 1, 8 * kGates>, HalfClusterWeights<kGates, 2, 4 * kGates>,
                            HalfClusterWeights<kGates, 4, 7>, HalfClusterWeights<kGates, 6, 5>>;
  using Many = WeightChoices<HalfClusterWeights<kGates, 1, 8>, HalfClusterWeights<kGates, 2, 8>,
                             HalfClusterWeights<kGates, 4, 7>, HalfClusterWeights<kGates, 8, 4>>;
  return std::conditional_t<kGates == 1, Many, Few>{};
}
template <int kGates>
constexpr auto weight_choices(float) {
  return WeightChoices<FloatClusterWeights<kGates, 1, 2>, FloatClusterWeights<kGates, 1, 8>,
                       FloatClusterWeights<kGates, 2, 2>, FloatClusterWeights<kGates, 2, 8>>{};
}
inline constexpr int kMostClusterRows = 8;

// Clusters have so many rows that all of them run at the same time; if rows do not suffice, they run one after the
// other.
template <class Kernel>
ClusterPlan plan_with(const RecurrenceSizes& n, int blocks) {
  using Weights = typename Kernel::Weights;
  if (n.H > Weights::kMostUnits) return {};
  const ClusterSizes most(n, blocks, Weights::kRows);
  const int resident = resident_clusters<Kernel>(blocks, Kernel::shared_bytes(most));
  if (resident == 0) return {};
  const std::int64_t rows = blocks_for(n.B, resident), cells = Kernel::kCells * Kernel::kThreads;
  if (rows > Weights::kRows && Weights::kRows < kMostClusterRows) return {};
  const std::int64_t taken = std::min({rows, std::int64_t{Weights::kRows}, cells / most.units});
  if (taken == 0) return {};
  return {blocks, static_cast<int>(taken), blocks_for(n.B, taken)};
}

template <class Recurrence, class Body, class... Weights>
bool with_first_kernel(WeightChoices<Weights...>, const RecurrenceSizes& n, int blocks, const Body& body) {
  const auto take = [&]<class Kernel>(std::type_identity<Kernel> kernel) {
    const ClusterPlan plan = plan_with<Kernel>(n, blocks);
    if (plan) body(kernel, plan);
    return static_cast<bool>(plan);
  };
  return (take(std::type_identity<ClusterKernel<Recurrence, Weights>>{}) || ...);
}

// Calls body(std::type_identity of the kernel, plan), if there is one that fits: if `blocks` is not 0, the sizes are
// not empty, W_h fits into the memory of the blocks, and the current device can run such clusters. Always the same
// kernel and plan for the same arguments and device.
template <class Recurrence, class Body>
void with_cluster_kernel(const RecurrenceSizes& n, int blocks, const Body& body) {
  if (blocks == 0 || n.steps == 0 || n.B == 0 || n.H == 0) return;
  constexpr auto kChoices = weight_choices<Recurrence::kGates>(typename Recurrence::Storage{});
  with_first_kernel<Recurrence>(kChoices, n, blocks, body);
}

template <class Recurrence>
ClusterPlan plan_clusters(const RecurrenceSizes& n, int blocks) {
  ClusterPlan found;
  with_cluster_kernel<Recurrence>(n, blocks, [&](auto, const ClusterPlan& plan) { found = plan; });
  return found;
}

// Enqueues all steps of a plan. sums: [clusters, Recurrence::kSums, H].
template <class Recurrence>
void launch_clusters(Queue& queue, const RecurrenceSizes& n, int blocks, const Recurrence& recurrence, float* sums) {
  with_cluster_kernel<Recurrence>(n, blocks, [&]<class Kernel>(std::type_identity<Kernel>, const ClusterPlan& plan) {
    queue.launch_clusters(plan.count, plan.blocks, Kernel{recurrence, {n, plan.blocks, plan.rows}, sums});
  });
}

}  // namespace backgauge::cuda
