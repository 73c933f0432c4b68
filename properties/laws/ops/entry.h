// SPDX-License-Identifier: Apache-2.0
// What an op does in the laws, apart from what its facts, tensors and roles say: one entry per op.
#pragma once

#include <memory>

#include "properties/laws/forward_slope.h"
#include "properties/laws/ops/draw.h"
#include "properties/laws/ops/one_unit.h"
#include "properties/laws/ops/state_weights.h"
#include "reference/contract/op_entries.h"

namespace backgauge::law_ops {

struct Entry {
  // The mode of a random case, before its data are drawn.
  void (*draw_mode)(CaseDraw&, Case&);
  // Settings of a random case, after its sizes and data have been drawn.
  void (*draw_settings)(CaseDraw&, Case&);
  // The values of one unit, and its results: one_unit_by_hand.h.
  Results (*one_unit)(OneUnit&);
  // The derivative of its forward.
  std::unique_ptr<ForwardSlope> (*forward_slope)(const Case&, Problem);
  // The elements that multiply a state.
  StateWeights (*state_weights)(const Problem&);
  // Sets the states before the second stretch of a sequence to those after the first.
  void (*enter_states)(const backgauge_implementation&, const Problem& first, Problem& second);
  // Hands the gradients of the states before the second stretch to the first.
  void (*carry_back)(const std::vector<Wanted>& second, Problem& first);
};
BACKGAUGE_OP_ENTRIES

}  // namespace backgauge::law_ops
