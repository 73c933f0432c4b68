// SPDX-License-Identifier: Apache-2.0
// A cuBLASLt without a device, beside fake_cudart.cc: a product computes nothing, and takes as long as on a device of
// FAKE_CUDA_GFLOPS (1000) in float32, half of it in float64, twice of it in TF32, and four times of it in 16 bits.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 7;

struct Description {
  int compute, scale;
};
struct Layout {
  int type;
  std::uint64_t rows, columns;
};

double gflops(const Description& description, int type) {
  const char* set = std::getenv("FAKE_CUDA_GFLOPS");
  const double rate = set == nullptr ? 1000 : std::atof(set);
  switch (type) {
    case 0: return description.compute == 77 ? 2 * rate : rate;
    case 1: return rate / 2;
    default: return 4 * rate;
  }
}

}  // namespace

#define BACKGAUGE_FAKE extern "C" __attribute__((visibility("default")))

BACKGAUGE_FAKE std::size_t cublasLtGetVersion() { return 130102; }

BACKGAUGE_FAKE int cublasLtCreate(void** handle) {
  *handle = new int;
  return kSuccess;
}
BACKGAUGE_FAKE int cublasLtDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return kSuccess;
}

BACKGAUGE_FAKE int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
  const bool is_double = compute == 70;
  if ((compute != 68 && compute != 77 && !is_double) || scale != (is_double ? 1 : 0)) return kInvalidValue;
  *description = new Description{compute, scale};
  return kSuccess;
}
BACKGAUGE_FAKE int cublasLtMatmulDescDestroy(void* description) {
  delete static_cast<Description*>(description);
  return kSuccess;
}

BACKGAUGE_FAKE int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                                              std::int64_t leading) {
  if (leading < static_cast<std::int64_t>(rows)) return kInvalidValue;
  *layout = new Layout{type, rows, columns};
  return kSuccess;
}
BACKGAUGE_FAKE int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Layout*>(layout);
  return kSuccess;
}

BACKGAUGE_FAKE int cublasLtMatmul(void* handle, void* description, const void* alpha, const void* a, void* layout_a,
                                  const void* b, void*, const void* beta, const void* c, void*, void* d, void*,
                                  const void*, void* workspace, std::size_t, void* stream) {
  for (const void* given : {static_cast<const void*>(handle), alpha, a, b, beta, c, static_cast<const void*>(d),
                            static_cast<const void*>(workspace), static_cast<const void*>(stream)}) {
    if (given == nullptr) return kInvalidValue;
  }
  const Layout& layout = *static_cast<Layout*>(layout_a);
  const auto side = static_cast<double>(layout.rows);
  const double seconds = 2 * side * side * side / gflops(*static_cast<Description*>(description), layout.type) / 1e9;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return kSuccess;
}
