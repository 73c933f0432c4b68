// SPDX-License-Identifier: Apache-2.0
#include "impl/onednn/library.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#endif

namespace backgauge::onednn {
namespace {

const char* threading() {
  switch (dnnl_version()->cpu_runtime) {
    case DNNL_RUNTIME_SEQ: return "sequential";
    case DNNL_RUNTIME_OMP: return "OpenMP";
    case DNNL_RUNTIME_TBB: return "TBB";
    case DNNL_RUNTIME_DPCPP: return "SYCL";
    default: return "other threads";
  }
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

const std::string& library_version() {
  static const std::string text = [] {
    const dnnl_version_t& v = *dnnl_version();
    return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch) + " (" +
           threading() + ")";
  }();
  return text;
}

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }
#else
// Other runtimes take as many as the process may use: README.md.
ThreadScope::ThreadScope(int) {}
ThreadScope::~ThreadScope() = default;
#endif

}  // namespace backgauge::onednn
