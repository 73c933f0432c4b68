// SPDX-License-Identifier: Apache-2.0
#include "reference/memory.h"

#include <algorithm>

#include "reference/arithmetic/over_steps.h"
#include "reference/contract/op_entries.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/size_product.h"

namespace backgauge {
namespace held {

// Numbers that an evaluation holds at once.
struct Held {
  double outputs = 0;  // rows that are zero by contract are not evaluated
  double weights = 0;  // the weights, and the largest part of their gradients while it is summed
  double states = 0;   // of all steps, or of those that have not been summed yet
};

static Held by_cell(const Problem& problem) {
  const Extents& e = problem.extents;
  constexpr std::int64_t kPlanes = 40;  // inputs, and results of the equations
  return {.outputs = size_product({5, e.B, e.H}), .states = size_product({kPlanes, e.B, e.H})};
}

static Held by_sequence(const Problem& problem) {
  const Extents& e = problem.extents;
  constexpr std::int64_t kPlanes = 24;  // of one step
  const double w = size_product({e.I + e.H, 4, e.H}),
               queued = static_cast<double>(std::min<Index>(kQueuedRows, e.S * e.B));
  return {.outputs = size_product({e.S, e.B, e.I}) + w,
          .weights = 3 * w,
          .states = size_product({kPlanes, e.B, e.H}) + 2 * queued * static_cast<double>(e.I + 5 * e.H)};
}

static Held by_stack(const Problem& problem) {
  const Extents& e = problem.extents;
  const std::int64_t gates = rnn_gates(problem.attributes.rnn_mode);
  const std::int64_t of_one_gate = problem.attributes.rnn_mode == BACKGAUGE_RNN_RELU ? 2 : 1;
  const std::int64_t planes = gates == 4 ? 7 : gates == 3 ? 5 : of_one_gate;  // RnnStep
  // In the last layer, the gradients of the gates and of the input take the place of the steps.
  const std::int64_t kept = e.L * planes + std::max<std::int64_t>(0, gates + 1 - planes);
  const auto masks = problem.attributes.dropout == 1 ? e.L - 1 : static_cast<std::int64_t>(problem.keep.size());
  const std::int64_t dropped = 2 * masks;  // and what they leave
  const double params = static_cast<double>(e.params_length);
  return {.outputs = size_product({e.T, e.B, e.I}) + params,
          .weights = 3 * params / static_cast<double>(e.L * e.D),  // as by_sequence, of one pseudo-layer
          .states = size_product({e.T, e.B, e.D, e.H, kept + dropped})};
}

using Entry = Held (*)(const Problem&);
BACKGAUGE_OP_ENTRIES
const Entry kLstmBlockCellGrad = by_cell;
const Entry kBlockLstmGradV2 = by_sequence;
const Entry kCudnnRnnBackprop = by_stack;
}  // namespace held

double bound_bytes(const Problem& problem) {
  const held::Held numbers = held::entry_of(traits_of(problem.op).gradient.value_or(problem.op))(problem);
  const double value = problem.dtype == BACKGAUGE_FLOAT64 ? sizeof(long double) : sizeof(double);
  return (value + sizeof(double)) * (numbers.outputs + numbers.weights + numbers.states);
}

}  // namespace backgauge
