// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <tuple>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {
namespace {

// Clusters exist from this compute capability on.
constexpr int kLeastMajor = 9;

int ask_for_resident_clusters(const void* function, int blocks, int threads, std::int64_t shared_bytes) {
  int major = 0, most_shared = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device()), "device");
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_device()), "device");
  if (major < kLeastMajor || shared_bytes > most_shared) return 0;
  const ClusterLaunch launch(function, 1, blocks, threads, shared_bytes);
  int clusters = 0;
  const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, function, &launch.config);
  if (status == cudaSuccess) return clusters;
  cudaGetLastError();  // clears the error: this device does not have the size
  return 0;
}

}  // namespace

ClusterLaunch::ClusterLaunch(const void* function, std::int64_t clusters, int blocks, int threads,
                             std::int64_t shared_bytes) {
  constexpr int kPortable = 8;  // what every device with clusters has
  if (clusters > INT32_MAX / blocks) throw CallError(BACKGAUGE_UNSUPPORTED, "more than 2^31 - 1 blocks of a kernel");
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
        "kernel");
  if (blocks > kPortable) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "kernel");
  }
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = static_cast<unsigned>(blocks);
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  config.gridDim = dim3(static_cast<unsigned>(clusters * blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.attrs = &size;
  config.numAttrs = 1;
}

int resident_clusters_of(const void* function, int blocks, int threads, std::int64_t shared_bytes) {
  static std::mutex mutex;
  static std::map<std::tuple<int, const void*, int, std::int64_t>, int> known;
  const std::tuple key(current_device(), function, blocks, shared_bytes);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = ask_for_resident_clusters(function, blocks, threads, shared_bytes);
}

}  // namespace backgauge::cuda
