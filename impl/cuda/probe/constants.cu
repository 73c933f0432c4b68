// SPDX-License-Identifier: Apache-2.0
// backgauge-gpu-constants: what a device costs and gives, as one JSON object: launches, barriers, memory, products. The
// figures are what the cost of an op on a GPU is estimated from. Exit code 3 where there is no device.
// To be removed with its phase in ci/gpu-check as soon as the figures of one GPU are recorded in impl/cuda/README.md.
#include <cooperative_groups.h>
#include <cublasLt.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 9;  // each figure is the median of as many
constexpr int kThreads = 256;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusString(status));
}

struct Memory {
  explicit Memory(std::size_t size) : bytes(size) { check(cudaMalloc(&data, bytes), "cudaMalloc"); }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data = nullptr;
  std::size_t bytes;
};

// Seconds on the device.
double median_time(cudaStream_t stream, const std::function<void()>& work) {
  cudaEvent_t from = nullptr, to = nullptr;
  check(cudaEventCreate(&from), "cudaEventCreate");
  check(cudaEventCreate(&to), "cudaEventCreate");
  std::vector<float> samples;
  work();  // what is loaded at first use is loaded now
  for (int round = 0; round < kRounds; ++round) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check(cudaEventRecord(from, stream), "cudaEventRecord");
    work();
    check(cudaEventRecord(to, stream), "cudaEventRecord");
    check(cudaEventSynchronize(to), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    samples.push_back(milliseconds);
  }
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  std::nth_element(samples.begin(), samples.begin() + kRounds / 2, samples.end());
  return static_cast<double>(samples[kRounds / 2]) / 1e3;
}

void say(const char* name, double value, const char* unit) {
  std::printf(",\n  \"%s\": {\"value\": %.5g, \"unit\": \"%s\"}", name, value, unit);
  std::fflush(stdout);
}

// One figure; what a device cannot do is said in its place.
void measure(const char* name, const char* unit, const std::function<double()>& body) {
  try {
    say(name, body(), unit);
  } catch (const std::exception& error) {
    std::printf(",\n  \"%s\": {\"error\": \"%s\"}", name, error.what());
    cudaGetLastError();
  }
}

__global__ void do_nothing() {}

__global__ void synchronize_grid(int times) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int k = 0; k < times; ++k) grid.sync();
}

__global__ void copy(const float4* from, float4* to, std::int64_t count) {
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count;
       k += std::int64_t{gridDim.x} * blockDim.x) {
    to[k] = from[k];
  }
}

__global__ void read(const float4* from, std::int64_t count, int times, float* sink) {
  float sum = 0;
  for (int round = 0; round < times; ++round) {
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count;
         k += std::int64_t{gridDim.x} * blockDim.x) {
      const float4 value = __ldcg(from + k);  // past the first level
      sum += value.x + value.y + value.z + value.w;
    }
  }
  if (sum == 1234.5f) *sink = sum;  // never: all inputs are 0
}

double stream_launch(cudaStream_t stream) {
  constexpr int kLaunches = 1000;
  return median_time(stream,
                     [&] {
                       for (int k = 0; k < kLaunches; ++k) do_nothing<<<1, 32, 0, stream>>>();
                     }) /
         kLaunches;
}

double graph_node(cudaStream_t stream) {
  constexpr int kNodes = 1000;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int k = 0; k < kNodes; ++k) do_nothing<<<1, 32, 0, stream>>>();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const double seconds = median_time(stream, [&] { check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch"); });
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return seconds / kNodes;
}

double grid_sync(cudaStream_t stream, int blocks) {
  int times = 1000;
  void* arguments[] = {&times};
  return median_time(stream,
                     [&] {
                       check(cudaLaunchCooperativeKernel(synchronize_grid, dim3(static_cast<unsigned>(blocks)),
                                                         dim3(kThreads), arguments, 0, stream),
                             "cudaLaunchCooperativeKernel");
                     }) /
         times;
}

double copied_per_second(cudaStream_t stream, int blocks, std::size_t bytes) {
  const Memory from(bytes), to(bytes);
  check(cudaMemsetAsync(from.data, 0, bytes, stream), "cudaMemsetAsync");
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float4));
  const double seconds = median_time(stream, [&] {
    copy<<<static_cast<unsigned>(16 * blocks), kThreads, 0, stream>>>(static_cast<const float4*>(from.data),
                                                                      static_cast<float4*>(to.data), count);
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

double read_per_second(cudaStream_t stream, int blocks, std::size_t bytes, int times) {
  const Memory from(bytes), sink(sizeof(float));
  check(cudaMemsetAsync(from.data, 0, bytes, stream), "cudaMemsetAsync");
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float4));
  const double seconds = median_time(stream, [&] {
    read<<<static_cast<unsigned>(8 * blocks), kThreads, 0, stream>>>(static_cast<const float4*>(from.data), count,
                                                                     times, static_cast<float*>(sink.data));
  });
  return static_cast<double>(bytes) * times / seconds;
}

struct Product {
  const char* name;
  std::int64_t rows, columns, depth;
  bool first_transposed;  // x^T dgates
};

struct Precision {
  const char* name;
  cudaDataType_t type;
  cublasComputeType_t compute;
  std::size_t bytes;
};

// Seconds of one product of row-major matrices, by the algorithm that cuBLASLt thinks best.
double product_time(cudaStream_t stream, const Product& p, const Precision& precision) {
  constexpr std::size_t kScratch = std::size_t{64} << 20;
  const Memory a(static_cast<std::size_t>(p.rows * p.depth) * precision.bytes),
      b(static_cast<std::size_t>(p.depth * p.columns) * precision.bytes),
      c(static_cast<std::size_t>(p.rows * p.columns) * sizeof(float)), scratch(kScratch);
  // Not zeros, with which products are faster: 0x3c3c... is 1.06 in half and 0.0115 in float.
  check(cudaMemsetAsync(a.data, 0x3c, a.bytes, stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(b.data, 0x3c, b.bytes, stream), "cudaMemsetAsync");
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtCreate(&handle), "cublasLtCreate");
  check(cublasLtMatmulDescCreate(&description, precision.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  // Column-major, the result's transpose is b^T a^T.
  const cublasOperation_t transposed = CUBLAS_OP_T;
  if (p.first_transposed) {
    check(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof transposed),
          "TRANSB");
  }
  const auto rows = static_cast<std::uint64_t>(p.rows), columns = static_cast<std::uint64_t>(p.columns),
             depth = static_cast<std::uint64_t>(p.depth);
  check(cublasLtMatrixLayoutCreate(&first, precision.type, columns, depth, p.columns), "layout");
  check(p.first_transposed ? cublasLtMatrixLayoutCreate(&second, precision.type, rows, depth, p.rows)
                           : cublasLtMatrixLayoutCreate(&second, precision.type, depth, rows, p.depth),
        "layout");
  check(cublasLtMatrixLayoutCreate(&result, CUDA_R_32F, columns, rows, p.columns), "layout");
  check(cublasLtMatmulPreferenceCreate(&preference), "preference");
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kScratch,
                                             sizeof kScratch),
        "preference");
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  check(
      cublasLtMatmulAlgoGetHeuristic(handle, description, first, second, result, result, preference, 1, &best, &found),
      "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) throw std::runtime_error("no algorithm");
  const float one = 1, zero = 0;
  constexpr int kTimes = 10;
  const double seconds = median_time(stream, [&] {
    for (int k = 0; k < kTimes; ++k) {
      check(cublasLtMatmul(handle, description, &one, b.data, first, a.data, second, &zero, c.data, result, c.data,
                           result, &best.algo, scratch.data, kScratch, stream),
            "cublasLtMatmul");
    }
  });
  cublasLtMatmulPreferenceDestroy(preference);
  for (const cublasLtMatrixLayout_t layout : {first, second, result}) cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(description);
  cublasLtDestroy(handle);
  return seconds / kTimes;
}

double active_clusters(int size) {
  constexpr int kShared = 200 << 10;
  check(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "cudaFuncSetAttribute");
  check(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cudaFuncSetAttribute");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(size));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = kShared;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(size);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, do_nothing, &config), "cudaOccupancyMaxActiveClusters");
  return clusters;
}

void measure_all() {
  cudaDeviceProp device{};
  int driver = 0, runtime = 0;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  std::printf(
      "{\"schema\": \"backgauge.gpu-constants/1\",\n  \"device\": \"%s\", \"compute_capability\": \"%d.%d\", "
      "\"multiprocessors\": %d, \"l2_bytes\": %d, \"memory_bytes\": %zu, \"driver_cuda\": %d, \"runtime_cuda\": %d, "
      "\"cublaslt\": %zu",
      device.name, device.major, device.minor, device.multiProcessorCount, device.l2CacheSize, device.totalGlobalMem,
      driver, runtime, cublasLtGetVersion());
  const int blocks = device.multiProcessorCount;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  constexpr double kMicro = 1e6, kGiga = 1e-9, kTera = 1e-12;
  measure("stream_launch", "us", [&] { return stream_launch(stream) * kMicro; });
  measure("graph_node", "us", [&] { return graph_node(stream) * kMicro; });
  measure("grid_sync", "us", [&] { return grid_sync(stream, blocks) * kMicro; });
  measure("copy_1GiB", "GB/s", [&] { return copied_per_second(stream, blocks, std::size_t{1} << 30) * kGiga; });
  measure("copy_64MiB", "GB/s", [&] { return copied_per_second(stream, blocks, std::size_t{64} << 20) * kGiga; });
  // A third of the second level, and it is read often enough to be there.
  const auto cached = static_cast<std::size_t>(device.l2CacheSize) / 3 / 4096 * 4096;
  measure("l2_read", "GB/s", [&] { return read_per_second(stream, blocks, cached, 100) * kGiga; });
  measure("memory_read_1GiB", "GB/s", [&] { return read_per_second(stream, blocks, std::size_t{1} << 30, 1) * kGiga; });
  measure("clusters_of_8", "at once", [] { return active_clusters(8); });
  measure("clusters_of_16", "at once", [] { return active_clusters(16); });

  const Precision precisions[] = {{"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
                                  {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4},
                                  {"f16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2}};
  // T = 512, B = 64, I = H = 1024: all steps at once, and one step.
  const Product products[] = {{"x_grad", 512 * 64, 1024, 4096, false},
                              {"w_grad", 1024, 4096, 512 * 64, true},
                              {"step_b64_h1024", 64, 1024, 4096, false},
                              {"step_b16_h512", 16, 512, 2048, false},
                              {"step_b16_h256", 16, 256, 1024, false}};
  for (const Product& product : products) {
    for (const Precision& precision : precisions) {
      const std::string name = std::string(product.name) + "_" + precision.name;
      const double flops =
          2.0 * static_cast<double>(product.rows * product.columns) * static_cast<double>(product.depth);
      const bool is_step = product.rows < 1024;
      measure(name.c_str(), is_step ? "us" : "TF/s", [&] {
        const double seconds = product_time(stream, product, precision);
        return is_step ? seconds * kMicro : flops / seconds * kTera;
      });
    }
  }
  std::printf("\n}\n");
  cudaStreamDestroy(stream);
}

}  // namespace

int main() {
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "backgauge-gpu-constants: no CUDA device: %s\n", cudaGetErrorString(error));
    return 3;
  }
  try {
    measure_all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backgauge-gpu-constants: %s\n", error.what());
    return 1;
  }
}
