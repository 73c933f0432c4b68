// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks on the processor. Shared memory and locals hold NaN at first; the order of clusters, of the blocks
// of a cluster, and of warps and lanes is one of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "impl/cuda/device/cluster.h"
#include "impl/cuda/device/host/stream.h"

namespace backgauge::cuda {

// What a block of compute capability 9.0 may have.
inline constexpr std::int64_t kMostClusterShared = 227 * 1024;
inline constexpr int kMostClusterBlocks = 16;
// Few, so that small batches have several clusters, and clusters several rows.
inline constexpr int kResidentClusters = 3;

template <class Kernel>
int resident_clusters(int blocks, std::int64_t shared_bytes) {
  return shared_bytes <= kMostClusterShared && blocks <= kMostClusterBlocks ? kResidentClusters : 0;
}

template <class Kernel>
class HostCluster {
  using Local = typename Kernel::Local;
  static constexpr int kWarps = Kernel::kThreads / kWarpLanes;

 public:
  HostCluster(const Kernel& kernel, std::int64_t cluster, int blocks, bool backwards)
      : kernel_(kernel), cluster_(cluster), blocks_(blocks), backwards_(backwards) {
    units_ = static_cast<std::size_t>((kernel.shared_bytes() + kVectorBytes - 1) / kVectorBytes);
    memory_ = poisoned(units_ * static_cast<std::size_t>(blocks));
    for (int k = 0; k < blocks; ++k) shared_.push_back(memory_[units_ * static_cast<std::size_t>(k)].bytes);
    locals_.resize(static_cast<std::size_t>(blocks) * Kernel::kThreads);
    std::memset(static_cast<void*>(locals_.data()), kPoison, locals_.size() * sizeof(Local));
  }

  void run() {
    each_block([&](int rank) { each_warp(rank, shared_, [&](const Warp<Local>& warp) { kernel_.begin(warp); }); });
    for (std::int64_t number = 0; number < kernel_.steps(); ++number) {
      each_block([&](int rank) { step(rank, number); });
    }
    const std::vector<Unit> nothing = poisoned(units_);
    each_block([&](int rank) { end(rank, nothing); });
  }

 private:
  struct alignas(kVectorBytes) Unit {
    std::byte bytes[kVectorBytes];
  };

  static std::vector<Unit> poisoned(std::size_t units) {
    std::vector<Unit> memory(units);
    std::memset(static_cast<void*>(memory.data()), kPoison, units * sizeof(Unit));
    return memory;
  }

  // Between two barriers of the cluster the first block is done when the last one starts.
  template <class Body>
  void each_block(const Body& body) const {
    for (int k = 0; k < blocks_; ++k) body(backwards_ ? blocks_ - 1 - k : k);
  }

  template <class Body>
  void each_warp(int rank, const std::vector<std::byte*>& shared, const Body& body) {
    for (int k = 0; k < kWarps; ++k) {
      const int index = backwards_ ? kWarps - 1 - k : k;
      body(Warp<Local>{{rank, blocks_, cluster_, shared[static_cast<std::size_t>(rank)], shared.data()},
                       index,
                       &locals_[static_cast<std::size_t>(rank * kWarps + index) * kWarpLanes],
                       backwards_});
    }
  }

  template <int kPhase = 0>
  void step(int rank, std::int64_t number) {
    each_warp(rank, shared_, [&](const Warp<Local>& warp) { kernel_.template step<kPhase>(warp, number); });
    if constexpr (kPhase + 1 < Kernel::kStepPhases) step<kPhase + 1>(rank, number);
  }

  // The other blocks may have ended: `gone` lies in the place of their memory.
  template <int kPhase = 0>
  void end(int rank, std::vector<Unit> gone) {
    std::vector<std::byte*> shared(shared_.size(), gone.front().bytes);
    shared[static_cast<std::size_t>(rank)] = shared_[static_cast<std::size_t>(rank)];
    each_warp(rank, shared, [&](const Warp<Local>& warp) { kernel_.template end<kPhase>(warp); });
    if constexpr (kPhase + 1 < Kernel::kEndPhases) end<kPhase + 1>(rank, std::move(gone));
  }

  const Kernel& kernel_;
  std::int64_t cluster_;
  int blocks_;
  bool backwards_;
  std::size_t units_ = 0;  // of a block
  std::vector<Unit> memory_;
  std::vector<std::byte*> shared_;
  std::vector<Local> locals_;
};

template <class Kernel>
void launch_clusters_on(Stream& stream, std::int64_t clusters, int blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) <= 4096, "what CUDA takes as a parameter");
  static_assert(std::is_trivially_copyable_v<typename Kernel::Local> && Kernel::kThreads % kWarpLanes == 0);
  if (resident_clusters<Kernel>(blocks, kernel.shared_bytes()) == 0) {
    throw CallError(BACKGAUGE_INTERNAL, "a cluster that no device can run");
  }
  stream.add([=](bool backwards) {
    for (std::int64_t k = 0; k < clusters; ++k) {
      HostCluster<Kernel>(kernel, backwards ? clusters - 1 - k : k, blocks, backwards).run();
    }
  });
}

}  // namespace backgauge::cuda
