// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/session.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace backgauge::cudnn {
namespace {

// A program has few shapes and streams; one that has many forgets them from time to time, which costs time alone.
constexpr std::size_t kMostNetworks = 64, kMostGraphs = 8, kMostIdle = 16;

// Never destroyed: at the end of the process, CUDA may be gone before.
struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Session>> idle;      // that no call uses, the one used last at the end
  std::vector<std::unique_ptr<Session>> captured;  // that belong to graphs of callers
};
Pool& pool() {
  static auto* const all = new Pool;
  return *all;
}

// The default stream cannot be.
bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (stream != nullptr) check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

std::unique_ptr<Session> take(std::vector<std::unique_ptr<Session>>& idle, std::size_t place) {
  std::unique_ptr<Session> session = std::move(idle[place]);
  idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(place));
  return session;
}

}  // namespace

Session::~Session() {
  for (const auto& [key, graph] : graphs_) cudaGraphExecDestroy(graph);
}

void Session::forget_graphs() {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // they may still be running
  for (const auto& [key, graph] : std::exchange(graphs_, {})) cudaGraphExecDestroy(graph);
}

void Session::bind(cudaStream_t stream) {
  check(cudnnSetStream(handle_, stream), "cudnnSetStream");
  stream_ = stream;
}

void Session::forget() {
  forget_graphs();
  networks_.clear();  // and their plans, which the device has finished with
}

Network& Session::network(const NetworkShape& shape) {
  if (const auto found = networks_.find(shape); found != networks_.end()) return *found->second;
  if (networks_.size() >= kMostNetworks && !is_captured()) forget();
  if (shape.dropout > 0 && states_ == nullptr) {
    std::size_t bytes = 0;
    check(cudnnDropoutGetStatesSize(handle_, &bytes), "cudnnDropoutGetStatesSize");
    states_ = std::make_unique<DeviceMemory>(bytes);
  }
  auto made = std::make_unique<Network>(shape, handle_, shape.dropout > 0 ? states_->data() : nullptr);
  return *networks_.emplace(shape, std::move(made)).first->second;
}

bool Session::is_captured() const { return is_capturing(stream_); }

void Session::replay(const GraphKey& key, const std::function<void()>& enqueue) {
  if (stream_ == nullptr || is_captured()) return enqueue();
  auto found = graphs_.find(key);
  if (found == graphs_.end()) {
    if (graphs_.size() >= kMostGraphs) forget_graphs();
    // Relaxed: cuDNN may allocate while it is captured for the first time.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);  // it must end, also where it is of no use
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t made = cudaGraphInstantiateWithFlags(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(made, "cudaGraphInstantiateWithFlags");
    found = graphs_.emplace(key, executable).first;
  }
  check(cudaGraphLaunch(found->second, stream_), "cudaGraphLaunch");
}

Lease::Lease(cudaStream_t stream) {
  {
    const std::lock_guard lock(pool().mutex);
    auto& idle = pool().idle;
    const auto same = std::ranges::find_if(idle, [&](const auto& session) { return session->stream() == stream; });
    if (same != idle.end()) {
      session_ = take(idle, static_cast<std::size_t>(same - idle.begin()));
    } else if (idle.size() >= kMostIdle && !is_capturing(stream)) {
      session_ = take(idle, 0);
    }
  }
  if (session_ == nullptr) {
    session_ = std::make_unique<Session>();
  } else if (session_->stream() != stream) {
    // Its last work is on another stream.
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  session_->bind(stream);
}

Lease::~Lease() {
  try {
    const bool captured = session_->is_captured();
    const std::lock_guard lock(pool().mutex);
    (captured ? pool().captured : pool().idle).push_back(std::move(session_));
  } catch (...) {  // NOLINT(bugprone-empty-catch): a device that is lost, or no memory: the session is gone
  }
}

}  // namespace backgauge::cudnn
