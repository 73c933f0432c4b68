// SPDX-License-Identifier: Apache-2.0
// The serial part of BlockLSTMGradV2: from the last step to the first, a kernel for the pointwise part and a product
// with W_h. Chunks of steps look for their tensors in device memory, so that a graph of a chunk serves all of them, and
// calls with other tensors.
#pragma once

#include <memory>
#include <mutex>

#include "impl/cuda/cell_kernel.h"
#include "impl/cuda/device/work.h"

namespace backgauge::cuda {

// In device memory. Of a step t each tensor [T, B, H] is read at t, cs also at t - 1.
template <class Storage>
struct StepArguments {
  using Real = Compute<Storage>;

  const Storage *cs_prev, *cs, *i, *f, *o, *ci, *co, *cs_grad, *h_grad, *wci, *wcf, *wco;
  Operand<Storage> dgates;  // [S, B, 4H], gates i, f, c, o
  Real *dh, *dcs;           // [B, H], from step to step
  Real* sums;               // [S, row blocks, cell_sums(), H]
  std::int64_t steps_left;

  // Of the chunk at hand, which counts downwards from step `first`.
  std::int64_t first;
  const void *chunk_dgates[kGraphSteps], *chunk_dgates_low[kGraphSteps];
  const void *w_h, *w_h_low;  // [H, 4H]
  void* dh_address;
};

// What all steps of a call have in common.
struct StepShape {
  std::int64_t B = 0, H = 0;
  bool peephole = false;
  bool wide = false;      // the tensors of a step can be accessed in vectors
  bool aligned = false;   // the product's matrices are
  bool indirect = false;  // the product takes its addresses from StepArguments

  auto operator<=>(const StepShape&) const = default;
};

// Whether the products of the steps can be. Looks at all but `indirect`.
template <class Storage>
bool steps_can_be_indirect(const StepShape& shape);

// Puts the first arguments into their place.
template <class Storage>
void set_arguments(Queue& queue, const StepArguments<Storage>& arguments, StepArguments<Storage>* place);

// The next `count` steps. last: the step of them that is done first, and where it lies; looked at only if the product
// is not indirect.
template <class Storage>
void do_chunk(Queue& queue, const StepShape& shape, int count, StepArguments<Storage>* place,
              const StepArguments<Storage>& arguments, std::int64_t last);

// The graph of a chunk of kGraphSteps steps, with arguments of its own. It serves one call after the other: hold the
// mutex while work is put into a queue, and let the queue wait for `last_use` before and record it afterwards.
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

// Makes the graph for this shape on the current device if there is none. Few are kept: the least used goes.
template <class Storage>
void prepare_step_graph(const StepShape& shape);

// nullptr if it was not prepared, or has been evicted since. It stays valid while the pointer is held.
template <class Storage>
std::shared_ptr<StepGraph<Storage>> find_step_graph(const StepShape& shape);

}  // namespace backgauge::cuda
