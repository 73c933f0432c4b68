// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/cuda/lanes.h"
#include "impl/cuda/device/cuda/multiply.h"
#include "impl/cuda/device/plain_product.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

struct WorkState {
  int device = 0;
  bool recorded = false;         // by the caller
  std::unique_ptr<Lanes> lanes;  // nullptr: the main queue is the only one
  bool borrowed = false;
  Stream main, sides[Work::kMostSides];

  void use_lanes(std::unique_ptr<Lanes> own, int count, void* scratch) {
    lanes = std::move(own);
    main.scratch = scratch;
    if (lanes == nullptr) return;
    main.event = lanes->main_event;
    for (int k = 0; k < count; ++k) {
      void* const part = scratch == nullptr ? nullptr : static_cast<char*>(scratch) + (k + 1) * kProductScratchBytes;
      sides[k] = {lanes->streams[k], lanes->events[k], part};
    }
  }
};

struct GraphState {
  cudaGraphExec_t exec = nullptr;
};

namespace {

bool is_empty(const Product& p) { return p.rows == 0 || p.columns == 0; }

// Whether the caller is recording the stream.
bool is_recording(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "stream");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw CallError(status == cudaErrorMemoryAllocation ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_DEVICE_ERROR,
                  std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

Event::Event() : state_(std::make_unique<EventState>()) {
  check(cudaEventCreateWithFlags(&state_->event, cudaEventDisableTiming), "event");
}
Event::~Event() { cudaEventDestroy(state_->event); }

void Queue::multiply(const Product& product, const Matrices& matrices) {
  if (is_empty(product)) return;
  if (product.depth > 0) {
    if (cublaslt_multiply(stream_, product, matrices)) return;
    return with_plain_product(product, matrices,
                              [this](std::int64_t blocks, const auto& kernel) { launch(blocks, kernel); });
  }
  if (product.added) return;
  const auto bytes = static_cast<std::size_t>(bytes_of(product.result));
  check(cudaMemset2DAsync(matrices.result, static_cast<std::size_t>(product.result_stride) * bytes, 0,
                          static_cast<std::size_t>(product.columns) * bytes, static_cast<std::size_t>(product.rows),
                          stream_.stream),
        "zeros");
}

void Queue::multiply(const Product& product, const IndirectMatrices& matrices) {
  if (!cublaslt_multiply(stream_, product, matrices)) {
    throw CallError(BACKGAUGE_INTERNAL, "a product that cannot be indirect");
  }
}

void Queue::zero(void* to, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), stream_.stream), "zeros");
}

void Queue::copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream_.stream), "copy");
}

void Queue::wait_for(Queue& other) {
  if (other.stream_.stream == stream_.stream) return;
  check(cudaEventRecord(other.stream_.event, other.stream_.stream), "event");
  check(cudaStreamWaitEvent(stream_.stream, other.stream_.event), "wait");
}

void Queue::record(Event& event) { check(cudaEventRecord(event.state_->event, stream_.stream), "event"); }
void Queue::wait_for(const Event& event) { check(cudaStreamWaitEvent(stream_.stream, event.state_->event), "wait"); }

void Queue::replay(const Graph& graph) { check(cudaGraphLaunch(graph.state_->exec, stream_.stream), "graph"); }

// Nothing needs to be kept: a graph that is running ends before the driver frees it, and cudaFree() waits for the
// device.
void Queue::keep(std::shared_ptr<const void>) {}

bool can_be_indirect(const Product& product) {
  return product.depth > 0 && !is_empty(product) && cublaslt_can_be_indirect(product);
}

Work::Work(void* stream, void* scratch, int sides) : state_(std::make_unique<WorkState>()), main_(state_->main) {
  state_->device = current_device();
  state_->main.stream = static_cast<cudaStream_t>(stream);
  state_->recorded = is_recording(state_->main.stream);
  // A side stream would be recorded until the caller's recording ends, including work of other calls in that stream.
  state_->use_lanes(state_->recorded || sides == 0 ? nullptr : borrow_lanes(state_->device), sides, scratch);
  state_->borrowed = state_->lanes != nullptr;
  for (int k = 0; k < sides; ++k) sides_[k] = std::make_unique<Queue>(state_->sides[k]);
}

Work::Work(Recording, void* scratch, int sides) : state_(std::make_unique<WorkState>()), main_(state_->main) {
  state_->device = current_device();
  state_->use_lanes(sides == 0 ? nullptr : std::make_unique<Lanes>(), sides, scratch);
  for (int k = 0; k < sides; ++k) sides_[k] = std::make_unique<Queue>(state_->sides[k]);
}

Work::~Work() {
  if (state_->borrowed) return_lanes(state_->device, std::move(state_->lanes));
}

Queue& Work::side(int index) { return state_->lanes == nullptr ? main_ : *sides_[index]; }

bool Work::is_recorded() const { return state_->recorded; }

// Queues that are not joined would race; the host backend detects that.
void Work::finish() {}

Graph::Graph(void* scratch, int sides, const std::function<void(Work&)>& body)
    : state_(std::make_unique<GraphState>()) {
  Work work(Work::Recording{}, scratch, sides);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  work.state_->main.stream = stream;
  cudaGraph_t graph = nullptr;
  cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  if (status == cudaSuccess) {
    try {
      body(work);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaStreamDestroy(stream);
      throw;
    }
    status = cudaStreamEndCapture(stream, &graph);
  }
  if (status == cudaSuccess) status = cudaGraphInstantiate(&state_->exec, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  check(status, "recording");
}

Graph::~Graph() {
  if (state_->exec != nullptr) cudaGraphExecDestroy(state_->exec);
}

Memory::Memory(std::int64_t bytes) { check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "memory"); }

Memory::~Memory() { cudaFree(data_); }

}  // namespace backgauge::cuda
