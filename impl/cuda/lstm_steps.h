// SPDX-License-Identifier: Apache-2.0
// The serial part of BlockLSTMGradV2: from the last step to the first, a kernel for the pointwise part and a product
// with W_h. Chunks of steps read the addresses of their tensors from device memory, so that one graph serves all
// chunks, and calls with other tensors.
#pragma once

#include <memory>
#include <mutex>

#include "impl/cuda/cell_kernel.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

// In device memory. Step t reads each input [T, B, H] at t, and cs also at t - 1.
template <class Storage>
struct StepArguments : LstmInputs<Storage> {
  using Real = Compute<Storage>;

  Operand<Storage> dgates;  // [S, B, 4H], gates i, f, c, o
  Real *dh, *dcs;           // [B, H], carried from step to step
  Real* sums;               // [S, row blocks, cell_sums(), H]
  std::int64_t steps_left;

  // The current chunk, which counts downwards from step `first`.
  std::int64_t first;
  const void *chunk_dgates[kGraphSteps], *chunk_dgates_low[kGraphSteps];
  const void *w_h, *w_h_low;  // [H, 4H]
  void* dh_address;
};

// The properties that all steps of a call have in common.
struct StepShape {
  std::int64_t B = 0, H = 0;
  bool peephole = false;
  bool wide = false;      // the tensors of a step can be accessed in vectors
  bool aligned = false;   // the product's matrices are
  bool indirect = false;  // the product takes its addresses from StepArguments

  auto operator<=>(const StepShape&) const = default;
};

// Whether the products of the steps can be indirect. Ignores the field `indirect`.
template <class Storage>
bool steps_can_be_indirect(const StepShape& shape);

// Writes the first arguments to device memory.
template <class Storage>
void set_arguments(Queue& queue, const StepArguments<Storage>& arguments, StepArguments<Storage>* place);

// Enqueues the next `count` steps. last: the one that runs first, and its addresses; only used if the product is not
// indirect.
template <class Storage>
void do_chunk(Queue& queue, const StepShape& shape, int count, StepArguments<Storage>* place,
              const StepArguments<Storage>& arguments, std::int64_t last);

// The graph of a chunk of kGraphSteps steps, with its own arguments. It serves one call at a time: hold the mutex while
// enqueueing work, and let the queue wait for `last_use` before, and record it afterwards.
template <class Storage>
class StepGraph {
 public:
  explicit StepGraph(const StepShape& shape);

  StepArguments<Storage>* place() const { return static_cast<StepArguments<Storage>*>(arguments_.data()); }
  const Graph& graph() const { return graph_; }

  std::mutex mutex;
  Event last_use;

 private:
  Memory arguments_, scratch_;
  Graph graph_;
};

// Makes the graph for this shape on the current device if there is none. Few are kept: the oldest unused one is freed.
template <class Storage>
void prepare_step_graph(const StepShape& shape);

// nullptr if it was not prepared, or has been evicted since. It stays valid while the pointer is held.
template <class Storage>
std::shared_ptr<StepGraph<Storage>> find_step_graph(const StepShape& shape);

}  // namespace backgauge::cuda
