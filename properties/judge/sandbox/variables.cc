// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/sandbox/variables.h"

#include <algorithm>

namespace backgauge {
namespace {

constexpr std::string_view kNames[] = {
    // the loader and the C library; HOME and PATH are where interpreters look for what they import
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "HOME", "PATH", "LANG", "LANGUAGE", "TZ",
    // Python
    "PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONHASHSEED", "PYTHONMALLOC",
    // what the judge's own code reads in this process
    "BACKGAUGE_CPU", "BACKGAUGE_CUDART", "BACKGAUGE_CUBLASLT"};

// Of each of these libraries, and of the sanitizers. No name that ends with one of kSecret is among them.
constexpr std::string_view kPrefixes[] = {"LC_",
                                          "MALLOC_",
                                          "OMP_",
                                          "GOMP_",
                                          "KMP_",
                                          "MKL_",
                                          "OPENBLAS_",
                                          "BLIS_",
                                          "DNNL_",
                                          "ONEDNN_",
                                          "CUDA_",
                                          "CUBLAS_",
                                          "CUDNN_",
                                          "NVIDIA_",
                                          "TF_",
                                          "TORCH_",
                                          "PYTORCH",
                                          "XLA_",
                                          "JAX_",
                                          "ASAN_",
                                          "LSAN_",
                                          "TSAN_",
                                          "UBSAN_",
                                          "MSAN_",
                                          "ATEN_",
                                          "KERAS_",
                                          "BACKGAUGE_CUDA_",
                                          "BACKGAUGE_CUDNN_"};
constexpr std::string_view kSecret[] = {"TOKEN", "KEY", "PASSWORD", "SECRET", "CREDENTIALS"};

}  // namespace

bool concerns_libraries(std::string_view variable) {
  if (std::ranges::find(kNames, variable) != std::end(kNames)) return true;
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); }) &&
         std::ranges::none_of(kSecret, [&](std::string_view end) { return variable.ends_with(end); });
}

}  // namespace backgauge
