// SPDX-License-Identifier: Apache-2.0
// Queues on an NVIDIA GPU: each is a stream, with an event that orders it relative to others.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "impl/call_error.h"
#include "impl/cuda/device/cluster.h"
#include "impl/cuda/device/kernel.h"

namespace backgauge::cuda {

inline constexpr backgauge_memory_space kMemorySpace = BACKGAUGE_CUDA;

// For cuBLASLt's partial sums: enough for a step with B = 64 and H = 4096 in four parts.
inline constexpr std::int64_t kProductScratchBytes = 4 << 20;
// Steps of a graph: enough for the launch to cost little, and few enough to create it quickly.
inline constexpr int kGraphSteps = 16;
// Elements of a launch from which on its blocks take more of them each: there are several times as many blocks as
// processors.
inline constexpr std::int64_t kManyElements = 1 << 20;
// Arrays of a workspace are adjacent.
inline constexpr std::int64_t kGuardBytes = 0;

struct Stream {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;  // nullptr: there is no other queue
  void* scratch = nullptr;      // kProductScratchBytes
};

struct EventState {
  cudaEvent_t event = nullptr;
};

// Throws CallError on anything but success.
void check(cudaError_t status, const char* what);

#ifdef __CUDACC__
template <class Kernel, int kPhase = 0>
__device__ __forceinline__ void run_phases(const Kernel& kernel, const Thread& thread, typename Kernel::Shared& shared,
                                           typename Kernel::Local& local) {
  kernel.template run<kPhase>(thread, shared, local);
  if constexpr (kPhase + 1 < Kernel::kPhases) {
    __syncthreads();
    run_phases<Kernel, kPhase + 1>(kernel, thread, shared, local);
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads) run_kernel(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Local local;
  run_phases(kernel, Thread{static_cast<int>(threadIdx.x), static_cast<std::int64_t>(blockIdx.x)}, shared, local);
}

template <class Kernel>
void launch_on(Stream& stream, std::int64_t blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  constexpr std::int64_t kMostBlocks = INT32_MAX;
  if (blocks > kMostBlocks) throw CallError(BACKGAUGE_UNSUPPORTED, "more than 2^31 - 1 blocks of a kernel");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(Kernel::kThreads);
  config.stream = stream.stream;
  check(cudaLaunchKernelEx(&config, run_kernel<Kernel>, kernel), "kernel");
}

template <class Kernel, int kPhase = 0>
__device__ __forceinline__ void run_step(const Kernel& kernel, const Warp<typename Kernel::Local>& warp,
                                         std::int64_t number) {
  kernel.template step<kPhase>(warp, number);
  if constexpr (kPhase + 1 < Kernel::kStepPhases) {
    __syncthreads();
    run_step<Kernel, kPhase + 1>(kernel, warp, number);
  }
}

template <class Kernel, int kPhase = 0>
__device__ __forceinline__ void run_end(const Kernel& kernel, const Warp<typename Kernel::Local>& warp) {
  kernel.template end<kPhase>(warp);
  if constexpr (kPhase + 1 < Kernel::kEndPhases) {
    __syncthreads();
    run_end<Kernel, kPhase + 1>(kernel, warp);
  }
}

// Empty for devices without clusters, where it is never launched: resident_clusters() is 0.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, 1) run_clusters(const __grid_constant__ Kernel kernel) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 cluster_shared[];
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks());
  typename Kernel::Local local;
  const Warp<typename Kernel::Local> warp{
      {static_cast<int>(cluster.block_rank()), blocks, static_cast<std::int64_t>(blockIdx.x) / blocks,
       reinterpret_cast<std::byte*>(cluster_shared), nullptr},
      static_cast<int>(threadIdx.x) / kWarpLanes,
      &local,
      false};
  kernel.begin(warp);
  cluster.sync();
  const std::int64_t steps = kernel.steps();
  for (std::int64_t number = 0; number < steps; ++number) {
    run_step(kernel, warp, number);
    cluster.sync();
  }
  run_end(kernel, warp);
#endif
}

// The configuration of a launch of `clusters` clusters; sets what the function needs for it.
struct ClusterLaunch {
  ClusterLaunch(const void* function, std::int64_t clusters, int blocks, int threads, std::int64_t shared_bytes);
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  cudaLaunchConfig_t config{};
  cudaLaunchAttribute size{};
};

int resident_clusters_of(const void* function, int blocks, int threads, std::int64_t shared_bytes);

template <class Kernel>
int resident_clusters(int blocks, std::int64_t shared_bytes) {
  return resident_clusters_of(reinterpret_cast<const void*>(run_clusters<Kernel>), blocks, Kernel::kThreads,
                              shared_bytes);
}

template <class Kernel>
void launch_clusters_on(Stream& stream, std::int64_t clusters, int blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && Kernel::kThreads % kWarpLanes == 0);
  ClusterLaunch launch(reinterpret_cast<const void*>(run_clusters<Kernel>), clusters, blocks, Kernel::kThreads,
                       kernel.shared_bytes());
  launch.config.stream = stream.stream;
  check(cudaLaunchKernelEx(&launch.config, run_clusters<Kernel>, kernel), "kernel");
}
#endif

}  // namespace backgauge::cuda
