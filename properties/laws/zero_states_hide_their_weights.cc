// SPDX-License-Identifier: Apache-2.0
// Law: Over one step from states of zero, the weights that multiply a state (R or the rows of w for h_prev, the
// forget gate for cs_prev) influence nothing but the gradient of that state, and their own gradient is exactly zero.
// Kind: exact.
// Catches: states read from the wrong place, an initial state that is dropped or replaced by a later one, recurrent
// products with the input, gradients of the recurrent weights that begin at the wrong step.
#include <algorithm>
#include <cmath>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace zero_states_hide_their_weights_law {
namespace {

// Products with a state of zero are zero unless the other side overflows.
Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  if (c.data == DataProfile::kHuge || c.data == DataProfile::kLarge) c.data = DataProfile::kStratified;
  c.T = 1;
  c.seq_len_max = 1;
  return c;
}

// Elements of the recurrent weights and of their gradients, and of the gradients of a forget gate.
struct Hidden {
  std::string_view weights, weights_gradient;
  std::vector<std::size_t> recurrent, forget;
};

Hidden hidden_in(const Problem& problem) {
  const Extents& e = problem.extents;
  Hidden out;
  const auto append = [](std::vector<std::size_t>& to, std::int64_t begin, std::int64_t count) {
    for (std::int64_t k = begin; k < begin + count; ++k) to.push_back(static_cast<std::size_t>(k));
  };
  const OpTraits& op = traits_of(problem.op);
  if (op.is_stacked) {
    out.weights = "params";
    out.weights_gradient = "params_backprop";
    const RnnParams layout = layout_of(problem);
    for (std::int64_t layer = 0; layer < e.L; ++layer) {
      for (std::int64_t direction = 0; direction < e.D; ++direction) {
        append(out.recurrent, layout.R(layer, direction, 0), layout.gates * e.H * e.H);
        if (!e.lstm) continue;
        append(out.forget, layout.W(layer, direction, 1), e.H * layout.matrix_input(layer));
        append(out.forget, layout.bW(layer, direction, 1), e.H);
        append(out.forget, layout.bR(layer, direction, 1), e.H);
      }
    }
    return out;
  }
  out.weights = "w";
  out.weights_gradient = op.has_steps ? "w_grad" : "dicfo";
  if (op.has_steps) append(out.recurrent, e.I * 4 * e.H, e.H * 4 * e.H);
  const auto forget = static_cast<std::int64_t>(op.gates.find('f'));
  for (std::int64_t row = 0; row < (op.has_steps ? e.I + e.H : e.B); ++row) {
    append(out.forget, (row * 4 + forget) * e.H, e.H);
  }
  return out;
}

bool is_gradient_of_h(std::string_view name) { return name == "h_prev_grad" || name == "input_h_backprop"; }

// Peephole weights that multiply cs_prev: their gradients.
bool vanishes(std::string_view name) { return name == "wci_grad" || name == "wcf_grad"; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  for (const char* name : {"cs_prev", "h_prev", "input_h", "input_c"}) {
    if (problem.find(name) == nullptr) continue;
    Tensor& state = input(problem, name);
    state.values.assign(state.values.size(), 0);
  }
  const Hidden hidden = hidden_in(problem);
  Problem other = problem;
  for (const std::size_t at : hidden.recurrent) input(other, hidden.weights).values[at] *= -2;
  const auto before = exactly(answer(implementation, problem));
  Agreement agreement(implementation, c);
  for (const Wanted& after : exactly(answer(implementation, other))) {
    if (is_gradient_of_h(after.name)) continue;
    Wanted expected = vanishes(after.name) ? zeros_like(after) : named(before, after.name);
    if (after.name == hidden.weights_gradient) {
      for (const std::size_t at : hidden.recurrent) expected.value[at] = 0;
      for (const std::size_t at : hidden.forget) expected.value[at] = 0;
    }
    agreement.expect(after, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace zero_states_hide_their_weights_law

Law zero_states_hide_their_weights() {
  using namespace zero_states_hide_their_weights_law;
  return {"M19",
          "ZeroStatesHideTheirWeights",
          "over one step from zero states, the weights of a state have no effect and no gradient",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
