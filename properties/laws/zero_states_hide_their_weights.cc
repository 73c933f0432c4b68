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
#include "properties/laws/ops/entry.h"
#include "properties/laws/transform.h"

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

// Peephole weights that multiply cs_prev: their gradients.
bool vanishes(std::string_view name) { return name == "wci_grad" || name == "wcf_grad"; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  for (Tensor& tensor : problem.inputs) {
    const Role role = tensor_spec(c.op, tensor.name).role;
    if (role == Role::kState || role == Role::kCellState) tensor.values.assign(tensor.values.size(), 0);
  }
  const StateWeights hidden = law_ops::entry_of(c.op).state_weights(problem);
  Problem other = problem;
  for (const std::size_t at : hidden.recurrent) input(other, hidden.weights).values[at] *= -2;
  const auto before = exactly(answer(implementation, problem));
  Agreement agreement(implementation, c);
  for (const Wanted& after : exactly(answer(implementation, other))) {
    if (tensor_spec(c.op, after.name).role == Role::kState) continue;
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
