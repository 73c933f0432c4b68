// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/answer.h"
#include "properties/laws/ops/lstm.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"

namespace backgauge::law_ops {
namespace {

void draw_block_settings(CaseDraw& draw, Case& c) {
  draw_lstm_settings(draw, c);
  c.seq_len_max = draw.once_in(2) ? c.T : draw.below(c.T + 1);
}

StateWeights block_state_weights(const Problem& problem) {
  const Extents& e = problem.extents;
  StateWeights out{"w", "w_grad"};
  append(out.recurrent, e.I * 4 * e.H, e.H * 4 * e.H);
  const auto forget = static_cast<std::int64_t>(traits_of(problem.op).gates.find('f'));
  for (std::int64_t row = 0; row < e.I + e.H; ++row) append(out.forget, (row * 4 + forget) * e.H, e.H);
  return out;
}

Tensor last_step(const Tensor& tensor) {
  return select(tensor, part(tensor.shape, 0, tensor.shape[0] - 1, tensor.shape[0]));
}

void enter_block_states(const backgauge_implementation&, const Problem& first, Problem& second) {
  input(second, "cs_prev").values = last_step(*first.find("cs")).values;
  input(second, "h_prev").values = last_step(*first.find("h")).values;
}

// Adds to the upstream gradients of the last step of the first stretch.
void carry_block_back(const std::vector<Wanted>& second, Problem& first) {
  for (const auto& [upstream, carry] : {std::pair{"cs_grad", "cs_prev_grad"}, {"h_grad", "h_prev_grad"}}) {
    Tensor& tensor = input(first, upstream);
    const std::vector<double> carried = values_of(named(second, carry));
    const std::size_t last = tensor.values.size() - carried.size();
    for (std::size_t k = 0; k < carried.size(); ++k) {
      tensor.values[last + k] = round_to(first.dtype, tensor.values[last + k] + carried[k]);
    }
  }
}

}  // namespace

const Entry kBlockLstmGradV2{draw_no_mode,        draw_block_settings, lstm_by_hand,    block_slope,
                             block_state_weights, enter_block_states,  carry_block_back};

}  // namespace backgauge::law_ops
