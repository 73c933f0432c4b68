// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "properties/campaign/plan/ops/draw.h"
#include "properties/campaign/plan/ops/lstm.h"

namespace backgauge::plan_ops {
namespace {

// Only the rigorous bound applies to these, and it grows with every step.
bool needs_short_sums(DataProfile data) {
  return data == DataProfile::kSaturated || data == DataProfile::kTiny || data == DataProfile::kNan ||
         data == DataProfile::kInf;
}

void draw_block(Case& c, Draws& draws) {
  draw_lstm(c, draws);
  c.T = draw_size(std::span(kSteps).first(needs_short_sums(c.data) ? 3 : 6), draws);
  const std::int64_t kind = draws.below(20);  // 45 % all of T, 5 % none, 10 % one step, the rest in between
  c.seq_len_max = kind < 9 ? c.T : kind < 10 ? 0 : kind < 12 ? 1 : 1 + draws.below(c.T);
}

// Only the rigorous bound applies to the profiles other than blank. It grows with steps, fastest if every operation
// rounds to half.
void choose_structured_block(Case& c, const StructuredTurn& turn) {
  const std::size_t k = choose_structured_lstm(c, turn);
  const bool blank = c.data == DataProfile::kBlank;
  c.T = blank ? 4 : 3;
  c.seq_len_max = blank ? 3 + static_cast<std::int64_t>(k % 2) : 2;
}

// The states are saved ones, and do not grow.
std::int64_t any_steps(const Case&) { return kAnySteps; }

void add_block_edges(Shapes& shapes) {
  shapes.add(0, 3, 5, 7, 0);  // no step there
  for (std::int64_t S = 0; S <= 5; ++S) shapes.add(5, 3, 2, 7, S);
}

// T * B * H elements in nine tensors, of which three steps are read; without input x_grad has none.
void add_block_limits(Shapes& shapes) {
  for (const std::int64_t T : {89478486, 178956971, 357913942}) shapes.add(T, 2, 0, 3, 3);
}

}  // namespace

const Entry kBlockLstmGradV2{kLstmVariants,          choose_peephole, take_no_turn,
                             take_no_turn,           any_steps,       add_block_edges,
                             add_block_limits,       draw_block,      1,
                             choose_structured_block};

}  // namespace backgauge::plan_ops
