// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "impl/cuda/lstm_cluster_weights.h"
#include "impl/cuda/lstm_clusters.h"

namespace backgauge::cuda {
namespace {

template <class... Weights>
struct Choices {};

// The first that fits is taken. What is in registers takes about 128 of the 255 of a thread at most.
constexpr auto choices(Half) {
  return Choices<HalfClusterWeights<1, 32>, HalfClusterWeights<2, 16>, HalfClusterWeights<4, 8>,
                 HalfClusterWeights<6, 5>>{};
}
constexpr auto choices(float) {
  return Choices<FloatClusterWeights<1, 2>, FloatClusterWeights<1, 8>, FloatClusterWeights<2, 2>,
                 FloatClusterWeights<2, 8>>{};
}
constexpr int kMostRows = 8;

// Clusters have so many rows that all of them run at the same time; if rows do not suffice, they run one after the
// other.
template <class Kernel, class Weights = typename Kernel::Weights>
ClusterPlan plan_with(const Extents& e, int blocks) {
  if (e.H > Weights::kMostUnits) return {};
  const ClusterSizes most(e, blocks, Weights::kRows, Weights::kGranule);
  const int resident = resident_clusters<Kernel>(blocks, Kernel{{}, most}.shared_bytes());
  if (resident == 0) return {};
  const std::int64_t rows = blocks_for(e.B, resident), cells = Kernel::kCells * Kernel::kThreads;
  if (rows > Weights::kRows && Weights::kRows < kMostRows) return {};
  const std::int64_t taken = std::min({rows, std::int64_t{Weights::kRows}, cells / most.units});
  return {blocks, static_cast<int>(taken), blocks_for(e.B, taken)};
}

// Calls body(a std::type_identity of the kernel, plan) for the first choice that fits.
template <bool kPeephole, class Body, class... Weights>
bool with_kernel(Choices<Weights...>, const Extents& e, int blocks, const Body& body) {
  const auto take = [&]<class Choice>(std::type_identity<Choice>) {
    using Kernel = LstmClusterKernel<Choice, kPeephole>;
    const ClusterPlan plan = plan_with<Kernel>(e, blocks);
    if (plan) body(std::type_identity<Kernel>{}, plan);
    return static_cast<bool>(plan);
  };
  return (take(std::type_identity<Weights>{}) || ...);
}

template <class Storage, class Body>
void with_kernel(const Extents& e, int blocks, const Body& body) {
  if (blocks == 0 || e.B == 0 || e.H == 0) return;
  e.peephole ? with_kernel<true>(choices(Storage{}), e, blocks, body)
             : with_kernel<false>(choices(Storage{}), e, blocks, body);
}

}  // namespace

template <class Storage>
ClusterPlan plan_clusters(const Extents& e, int blocks) {
  ClusterPlan found;
  with_kernel<Storage>(e, blocks, [&](auto, const ClusterPlan& plan) { found = plan; });
  return found;
}

template <class Storage>
void go_back_in_clusters(Queue& queue, const ClusterPlan& plan, const Extents& e,
                         const ClusterTensors<Storage>& tensors) {
  with_kernel<Storage>(e, plan.blocks, [&]<class Kernel>(std::type_identity<Kernel>, const ClusterPlan&) {
    queue.launch_clusters(plan.count, plan.blocks,
                          Kernel{tensors, {e, plan.blocks, plan.rows, Kernel::Weights::kGranule}});
  });
}

#define BACKGAUGE_CLUSTERS_OF(S)                              \
  template ClusterPlan plan_clusters<S>(const Extents&, int); \
  template void go_back_in_clusters(Queue&, const ClusterPlan&, const Extents&, const ClusterTensors<S>&);
BACKGAUGE_CLUSTERS_OF(Half)
BACKGAUGE_CLUSTERS_OF(float)
#undef BACKGAUGE_CLUSTERS_OF

}  // namespace backgauge::cuda
