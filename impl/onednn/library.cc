// SPDX-License-Identifier: Apache-2.0
#include "impl/onednn/library.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#elif defined(BACKGAUGE_ONEDNN_TBB)
#include <oneapi/tbb/global_control.h>
#endif

#include <cstdlib>

namespace backgauge::onednn {
namespace {

const char* threading(unsigned runtime) {
  switch (runtime) {
    case DNNL_RUNTIME_SEQ: return "sequential";
    case DNNL_RUNTIME_OMP: return "OpenMP";
    case DNNL_RUNTIME_TBB: return "TBB";
    case DNNL_RUNTIME_DPCPP: return "SYCL";
    default: return "other threads";
  }
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu = [] {
#ifdef BACKGAUGE_ONEDNN_OPENCL
    // Where SYCL finds its CPU device, unless that is already set.
    setenv("OCL_ICD_FILENAMES", BACKGAUGE_ONEDNN_OPENCL, 0);
#endif
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

const std::string& library_version() {
  static const std::string text = [] {
    const dnnl_version_t& v = *dnnl_version();
    return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch) + " (" +
           threading(v.cpu_runtime) + ")";
  }();
  return text;
}

std::string other_library() {
  const dnnl_version_t& v = *dnnl_version();
  if (v.major == DNNL_VERSION_MAJOR && v.minor == DNNL_VERSION_MINOR && v.cpu_runtime == DNNL_CPU_RUNTIME) return "";
  return "built for oneDNN " + std::to_string(DNNL_VERSION_MAJOR) + "." + std::to_string(DNNL_VERSION_MINOR) + " (" +
         threading(DNNL_CPU_RUNTIME) + "), but the process has loaded " + library_version();
}

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }
#elif defined(BACKGAUGE_ONEDNN_TBB)
ThreadScope::ThreadScope(int threads)
    : limit_(std::make_shared<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads)) {}
ThreadScope::~ThreadScope() = default;
#else
// Other runtimes take as many as the process may use: README.md.
ThreadScope::ThreadScope(int) {}
ThreadScope::~ThreadScope() = default;
#endif

}  // namespace backgauge::onednn
