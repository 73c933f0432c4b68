// SPDX-License-Identifier: Apache-2.0
#include "properties/device/testing/captured_graph.h"

#include <string>

#include "properties/device/runtime.h"

namespace backgauge::device {
namespace {

constexpr int kThreadLocal = 1;  // cudaStreamCaptureModeThreadLocal: other threads may allocate meanwhile

// A function that only tests need, with CUDA's own declaration. Returns its error.
template <class... Arguments>
int result_of(const char* name, Arguments... arguments) {
  const auto found = reinterpret_cast<int (*)(Arguments...)>(function(name));
  if (found == nullptr) throw Error(std::string("the CUDA runtime library has no function ") + name);
  return found(arguments...);
}

template <class... Arguments>
void call(const char* name, Arguments... arguments) {
  check(result_of(name, arguments...), name);
}

}  // namespace

CapturedGraph::CapturedGraph(const Stream& stream, const std::function<void()>& work) {
  call("cudaStreamBeginCapture", stream.get(), kThreadLocal);
  try {
    work();
  } catch (...) {
    result_of("cudaStreamEndCapture", stream.get(), &graph_);  // the error of the work is the one to report
    throw;
  }
  call("cudaStreamEndCapture", stream.get(), &graph_);
  call("cudaGraphInstantiateWithFlags", &executable_, graph_, 0ULL);
}

CapturedGraph::~CapturedGraph() {
  result_of("cudaGraphExecDestroy", executable_);
  result_of("cudaGraphDestroy", graph_);
}

std::size_t CapturedGraph::nodes() const {
  std::size_t count = 0;
  call("cudaGraphGetNodes", graph_, static_cast<void**>(nullptr), &count);
  return count;
}

void CapturedGraph::launch(const Stream& stream) const { call("cudaGraphLaunch", executable_, stream.get()); }

}  // namespace backgauge::device
