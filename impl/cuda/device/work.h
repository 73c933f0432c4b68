// SPDX-License-Identifier: Apache-2.0
// The machine as an op sees it: work in queues, recorded work, and memory that outlives a call. Two backends: CUDA's
// runtime and cuBLASLt (cuda/), and the processor (host/), which runs work as late or as early as its order allows and
// watches over the rules. Everything here throws CallError.
//
// Between the making and the end of a Work nothing may allocate device memory or wait for the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "impl/cuda/device/product.h"

#ifdef BACKGAUGE_CUDA_ON_HOST
#include "impl/cuda/device/host/stream.h"
#else
#include "impl/cuda/device/cuda/stream.h"
#endif

namespace backgauge::cuda {

class Graph;
struct WorkState;  // of a backend, likewise EventState and Stream
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

// Does one thing after the other, in the order of these calls.
class Queue {
 public:
  explicit Queue(Stream& stream) : stream_(stream) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Device code: kernel.h. Nothing if `blocks` is 0.
  template <class Kernel>
  void launch(std::int64_t blocks, const Kernel& kernel) {
    if (blocks > 0) launch_on(stream_, blocks, kernel);
  }

  // Of no depth: zeros, unless added. Nothing if the result has no element.
  void multiply(const Product& product, const Matrices& matrices);
  // Only where can_be_indirect().
  void multiply(const Product& product, const IndirectMatrices& matrices);

  void zero(void* to, std::int64_t bytes);
  // Both in device memory, not overlapping.
  void copy(void* to, const void* from, std::int64_t bytes);

  // What follows here starts after all that is in `other` now has ended. Nothing if it is the same queue.
  void wait_for(Queue& other);

  void record(Event& event);
  // For the last record() of it; nothing if there was none.
  void wait_for(const Event& event);

  void replay(const Graph& graph);

 private:
  Stream& stream_;
};

// Whether multiply() takes this one with IndirectMatrices. The same answer for the same product, always.
bool can_be_indirect(const Product& product);

// The work of one call, or of one recording. Side queues start with a wait_for() and end in one.
class Work {
 public:
  static constexpr int kMostSides = 2;
  // Device memory that the products of the queues need together, aligned to 256 bytes.
  static constexpr std::int64_t scratch_bytes(int sides) { return (1 + sides) * kProductScratchBytes; }

  // stream: of the call. scratch: of scratch_bytes(sides), or nullptr without products.
  Work(void* stream, void* scratch, int sides);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Queue& main() { return main_; }
  // index in 0 .. sides - 1. May be the main one.
  Queue& side(int index);

  // Whether the caller records this call into a graph of his own; graphs cannot be replayed then.
  bool is_recorded() const;

  // After the last of it. Throws if side queues have not been waited for.
  void finish();

 private:
  friend class Graph;
  struct Recording {};
  Work(Recording, void* scratch, int sides);

  std::unique_ptr<WorkState> state_;
  Queue main_;
  std::unique_ptr<Queue> sides_[kMostSides];
};

// Work that can be done again and again with one call; at one time once only.
class Graph {
 public:
  // body: puts its work into the queues. scratch, sides: as for Work; the graph keeps the scratch.
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
