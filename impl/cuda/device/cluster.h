// SPDX-License-Identifier: Apache-2.0
// The definition of a kernel whose blocks form clusters: the blocks of a cluster run at the same time, and write to
// each other's shared memory. It takes all steps of a recurrence in one launch. A cluster kernel is a struct that can
// be copied byte by byte:
//
//   struct Example {
//     static constexpr int kThreads = 256;                 // of a block, whole warps
//     static constexpr int kStepPhases = 2, kEndPhases = 1;
//     struct Local { float sum; };                         // of a thread, kept throughout; uninitialized at first
//     std::int64_t steps() const;                          // at least 1; on host and device
//     std::int64_t shared_bytes() const;                   // of a block, on the host; uninitialized at first
//     BACKGAUGE_BOTH void begin(const Warp<Local>& warp) const;
//     template <int kPhase>
//     BACKGAUGE_BOTH void step(const Warp<Local>& warp, std::int64_t number) const;  // number: 0 .. steps() - 1
//     template <int kPhase>
//     BACKGAUGE_BOTH void end(const Warp<Local>& warp) const;
//   };
//
// After begin() and after the last phase of each step there is a barrier of the cluster; after each other phase, one of
// the block. A thread may only read what was written by itself, by its block before the last barrier, by its cluster
// before the last barrier of the cluster, or by an earlier launch. In end() it must not store in the memory of other
// blocks, which may have ended. Clusters run in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/cuda/device/kernel.h"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#endif

namespace backgauge::cuda {

inline constexpr int kWarpLanes = 32;
// The lanes of a warp that one call of a phase runs: its own one on a device, all of them on the host.
#ifdef __CUDA_ARCH__
inline constexpr int kLanesHere = 1;
#else
inline constexpr int kLanesHere = kWarpLanes;
#endif

// A value for each of these lanes.
template <class T>
struct OfLanes {
  T at[kLanesHere];
};

struct ClusterBlock {
  int rank, blocks;       // in the cluster, 0 .. blocks - 1
  std::int64_t cluster;   // 0 .. clusters - 1
  std::byte* shared;      // shared_bytes(), aligned to 16 bytes
  std::byte* const* all;  // on the host, that of each block of the cluster

  // Stores a value in the memory of block `other`, at the place that corresponds to one in the own memory.
  BACKGAUGE_BOTH void store_in(int other, float* own, float value) const {
#ifdef __CUDA_ARCH__
#if __CUDA_ARCH__ >= 900
    // 32 bits are enough for the address of shared memory in a cluster, and take half the registers of a pointer.
    asm volatile(
        "{\n"
        ".reg .u32 place;\n"
        "mapa.shared::cluster.u32 place, %0, %1;\n"
        "st.shared::cluster.f32 [place], %2;\n"
        "}"
        :
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(other), "f"(value)
        : "memory");
#endif
#else
    *reinterpret_cast<float*>(all[other] + (reinterpret_cast<std::byte*>(own) - shared)) = value;
#endif
  }
};

struct Lane {
  int thread;  // in the block
  int lane;    // in the warp
  int here;    // in OfLanes
};

template <class Local>
struct Warp {
  ClusterBlock block;
  int index;       // in the block
  Local* locals;   // of kLanesHere lanes
  bool backwards;  // on the host: the last lane first

  // Calls body(const Lane&, Local&) for each lane. What other lanes do in the same call must not be read.
  template <class Body>
  BACKGAUGE_BOTH void each(const Body& body) const {
#ifdef __CUDA_ARCH__
    const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
    body(Lane{static_cast<int>(threadIdx.x), lane, 0}, locals[0]);
#else
    for (int k = 0; k < kWarpLanes; ++k) {
      const int lane = backwards ? kWarpLanes - 1 - k : k;
      body(Lane{index * kWarpLanes + lane, lane, lane}, locals[lane]);
    }
#endif
  }
};

}  // namespace backgauge::cuda
