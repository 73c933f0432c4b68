// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <list>
#include <string_view>
#include <utility>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/lstm_steps.h"

namespace backgauge::cuda {
namespace {

template <class S>
struct SetArgumentsKernel {
  static constexpr int kThreads = 1, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  StepArguments<S> arguments;
  StepArguments<S>* place;

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread&, Shared&, Local&) const {
    *place = arguments;
  }
};

// A kernel of one block, since no other block may read steps_left while it changes.
template <class S>
struct NextChunkKernel {
  static constexpr int kThreads = kGraphSteps, kPhases = 2;
  using Shared = Nothing;
  struct Local {
    std::int64_t first;
  };

  StepArguments<S>* place;
  std::int64_t count, step_elements;  // step_elements: of dgates

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local& local) const {
    if constexpr (kPhase == 0) {
      local.first = place->steps_left - 1;
      if (thread.index < count) {
        const Operand<S> dgates = place->dgates + (local.first - thread.index) * step_elements;
        place->chunk_dgates[thread.index] = dgates.data;
        place->chunk_dgates_low[thread.index] = dgates.lower();
      }
    } else if (thread.index == 0) {
      place->first = local.first;
      place->steps_left = local.first + 1 - count;
    }
  }
};

// Step number `slot` of the current chunk, for CellKernel.
template <class S, bool kPeephole>
struct StepOfChunk {
  using Storage = S;
  static constexpr bool kCarried = true;
  static constexpr int kSums = cell_sums(true, kPeephole);

  const StepArguments<S>* arguments;
  std::int64_t slot, B, H, row_blocks;

  BACKGAUGE_BOTH CellTensors<S> tensors() const {
    const StepArguments<S>& a = *arguments;
    const std::int64_t t = a.first - slot, at = t * B * H;
    S* const dgates = a.dgates.data + 4 * at;
    return {{t == 0 ? a.cs_prev : a.cs + (at - B * H), kPeephole ? a.cs + at : nullptr, a.i + at, a.f + at, a.o + at,
             a.ci + at, a.co + at, a.cs_grad + at, a.h_grad + at, a.wci, a.wcf, a.wco},
            dgates,
            dgates + H,
            dgates + 2 * H,
            dgates + 3 * H,
            nullptr,
            a.dh,
            a.dcs,
            a.sums + t * row_blocks * kSums * H,
            a.dgates.low};
  }
};

template <class S, int kWidth, bool kPeephole>
void launch_step(Queue& queue, const StepShape& shape, std::int64_t slot, const StepArguments<S>* place) {
  constexpr std::int64_t kRowsEach = 1;
  using Kernel = CellKernel<StepOfChunk<S, kPeephole>, kWidth, kPeephole>;
  queue.launch(
      Kernel::blocks(shape.B, shape.H, kRowsEach),
      Kernel{{place, slot, shape.B, shape.H, cell_row_blocks(shape.B, kRowsEach)}, shape.B, shape.H, kRowsEach});
}

// Whether graphs are enabled: BACKGAUGE_CUDA_GRAPH=off enqueues every step, with the same results.
bool graphs_are_on() {
  const char* word = std::getenv("BACKGAUGE_CUDA_GRAPH");
  return word == nullptr || std::string_view(word) != "off";
}

template <class S>
class StepGraphs {
 public:
  void prepare(const StepShape& shape) {
    if (find(shape) != nullptr) return;
    auto made = std::make_shared<StepGraph<S>>(shape);
    const std::lock_guard lock(mutex_);
    kept_.push_front({{current_device(), shape}, std::move(made)});
    if (kept_.size() > kMost) kept_.pop_back();
  }

  std::shared_ptr<StepGraph<S>> find(const StepShape& shape) {
    const std::pair key(current_device(), shape);
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, [](const auto& entry) { return entry.first; });
    if (found == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found);
    return found->second;
  }

 private:
  // Each takes 4 MiB of device memory.
  static constexpr std::size_t kMost = 8;

  std::mutex mutex_;
  std::list<std::pair<std::pair<int, StepShape>, std::shared_ptr<StepGraph<S>>>> kept_;  // most recently used first
};

// Never destroyed, because the driver may already be unloaded at the end of the process.
template <class S>
StepGraphs<S>& step_graphs() {
  static StepGraphs<S>& the = *new StepGraphs<S>;
  return the;
}

// dh[B, H] = dgates[B, 4H] W_h^T.
template <class S>
Product step_product(const StepShape& shape) {
  const std::int64_t H = shape.H;
  return {.rows = shape.B,
          .columns = H,
          .depth = 4 * H,
          .operands = kType<S>,
          .result = kType<Compute<S>>,
          .b_transposed = true,
          .a_stride = 4 * H,
          .b_stride = 4 * H,
          .result_stride = H,
          .aligned = shape.aligned};
}

}  // namespace

template <class S>
bool steps_can_be_indirect(const StepShape& shape) {
  Product product = step_product<S>(shape);
  if (!can_be_indirect(product)) return false;
  product.added = true;  // like all products of split operands but the first
  return !operands_are_split<S>() || can_be_indirect(product);
}

template <class S>
void set_arguments(Queue& queue, const StepArguments<S>& arguments, StepArguments<S>* place) {
  queue.launch(1, SetArgumentsKernel<S>{arguments, place});
}

template <class S>
void do_chunk(Queue& queue, const StepShape& shape, int count, StepArguments<S>* place,
              const StepArguments<S>& arguments, std::int64_t last) {
  const std::int64_t step_elements = shape.B * 4 * shape.H;
  queue.launch(1, NextChunkKernel<S>{place, count, step_elements});
  for (int slot = 0; slot < count; ++slot) {
    with_width<S>(shape.wide, [&](auto width) {
      shape.peephole ? launch_step<S, width, true>(queue, shape, slot, place)
                     : launch_step<S, width, false>(queue, shape, slot, place);
    });
    const Product product = step_product<S>(shape);
    const bool split = operands_are_split<S>();
    if (shape.indirect) {
      multiply_parts<IndirectMatrices>(queue, product, split, &place->chunk_dgates[slot],
                                       &place->chunk_dgates_low[slot], &place->w_h, &place->w_h_low,
                                       &place->dh_address);
    } else {
      const Operand<S> dgates = arguments.dgates + (last - slot) * step_elements;
      multiply_parts<Matrices>(queue, product, split, dgates.data, dgates.lower(), arguments.w_h, arguments.w_h_low,
                               arguments.dh);
    }
  }
}

template <class S>
StepGraph<S>::StepGraph(const StepShape& shape)
    : arguments_(sizeof(StepArguments<S>)),
      scratch_(Work::scratch_bytes(0)),
      graph_(scratch_.data(), 0,
             [&](Work& work) { do_chunk(work.main(), shape, kGraphSteps, place(), StepArguments<S>{}, 0); }) {}

template <class S>
void prepare_step_graph(const StepShape& shape) {
  if (!graphs_are_on() || !shape.indirect) return;
  step_graphs<S>().prepare(shape);
}

template <class S>
std::shared_ptr<StepGraph<S>> find_step_graph(const StepShape& shape) {
  return step_graphs<S>().find(shape);
}

#define BACKGAUGE_STEPS_OF(S)                                                                                      \
  template bool steps_can_be_indirect<S>(const StepShape&);                                                        \
  template void set_arguments(Queue&, const StepArguments<S>&, StepArguments<S>*);                                 \
  template void do_chunk(Queue&, const StepShape&, int, StepArguments<S>*, const StepArguments<S>&, std::int64_t); \
  template class StepGraph<S>;                                                                                     \
  template void prepare_step_graph<S>(const StepShape&);                                                           \
  template std::shared_ptr<StepGraph<S>> find_step_graph(const StepShape&);
BACKGAUGE_STEPS_OF(Half)
BACKGAUGE_STEPS_OF(float)
#undef BACKGAUGE_STEPS_OF

}  // namespace backgauge::cuda
