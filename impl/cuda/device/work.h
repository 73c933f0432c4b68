// SPDX-License-Identifier: Apache-2.0
// The machine as an op uses it: work in queues, recorded work, and memory that outlives a call. Two backends: CUDA's
// runtime and cuBLASLt (cuda/), and the processor (host/), which runs work as late or as early as its order allows and
// checks the rules. Everything here throws CallError.
//
// During the lifetime of a Work, nothing may allocate device memory or wait for the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "impl/cuda/device/product.h"

#ifdef BACKGAUGE_CUDA_ON_HOST
#include "impl/cuda/device/host/clusters.h"
#include "impl/cuda/device/host/stream.h"
#else
#include "impl/cuda/device/cuda/stream.h"
#endif

namespace backgauge::cuda {

class Graph;
struct WorkState;  // defined by a backend, like EventState and Stream
struct GraphState;

// Marks a place in a queue that queues of later calls can wait for.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

 private:
  friend class Queue;
  std::unique_ptr<EventState> state_;
};

// Runs its work sequentially, in the order of these calls.
class Queue {
 public:
  explicit Queue(Stream& stream) : stream_(stream) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Launches device code: kernel.h. Does nothing if `blocks` is 0.
  template <class Kernel>
  void launch(std::int64_t blocks, const Kernel& kernel) {
    if (blocks > 0) launch_on(stream_, blocks, kernel);
  }

  // Launches device code of clusters of `blocks` blocks: cluster.h. Only if resident_clusters() is not 0.
  template <class Kernel>
  void launch_clusters(std::int64_t clusters, int blocks, const Kernel& kernel) {
    if (clusters > 0) launch_clusters_on(stream_, clusters, blocks, kernel);
  }

  // With depth 0 the result is zero, or unchanged if added. Does nothing if the result has no element.
  void multiply(const Product& product, const Matrices& matrices);
  // Only where can_be_indirect().
  void multiply(const Product& product, const IndirectMatrices& matrices);

  void zero(void* to, std::int64_t bytes);
  // Both must be in device memory, and must not overlap.
  void copy(void* to, const void* from, std::int64_t bytes);

  // Later work of this queue starts after all current work of `other` has ended. Does nothing for the same queue.
  void wait_for(Queue& other);

  void record(Event& event);
  // Waits for the last record() of the event; does nothing if there was none.
  void wait_for(const Event& event);

  void replay(const Graph& graph);

  // Keeps an object that the work so far uses until that work has ended.
  void keep(std::shared_ptr<const void> object);

 private:
  Stream& stream_;
};

// Declared by each backend:
//   template <class Kernel> int resident_clusters(int blocks, std::int64_t shared_bytes);
// How many clusters of this kernel the current device runs at the same time; 0: none can be launched. Always the same
// for the same arguments and device.

// Whether multiply() accepts this product with IndirectMatrices. Always the same for the same product.
bool can_be_indirect(const Product& product);

// The work of one call, or of one recording. Side queues start with a wait_for() and end in one.
class Work {
 public:
  static constexpr int kMostSides = 2;
  // Bytes of device memory, aligned to 256 bytes, that the products of all queues need together.
  static constexpr std::int64_t scratch_bytes(int sides) { return (1 + sides) * kProductScratchBytes; }

  // stream: of the call. scratch: of scratch_bytes(sides), or nullptr without products.
  Work(void* stream, void* scratch, int sides);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Queue& main() { return main_; }
  // index in 0 .. sides - 1. May be the main one.
  Queue& side(int index);

  // Whether the caller records this call into its own graph; graphs cannot be replayed then.
  bool is_recorded() const;

  // To be called after the last work. Throws if a side queue has not been waited for.
  void finish();

 private:
  friend class Graph;
  struct Recording {};
  Work(Recording, void* scratch, int sides);

  std::unique_ptr<WorkState> state_;
  Queue main_;
  std::unique_ptr<Queue> sides_[kMostSides];
};

// Work that can be repeated with one call, but not concurrently.
class Graph {
 public:
  // body: enqueues the work. scratch, sides: as for Work; the graph keeps the scratch.
  Graph(void* scratch, int sides, const std::function<void(Work&)>& body);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

 private:
  friend class Queue;
  std::unique_ptr<GraphState> state_;
};

// Device memory that outlives calls, aligned to 256 bytes.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace backgauge::cuda
