// SPDX-License-Identifier: Apache-2.0
// Law: For one unit, one input, one sample and one step, the results are those worked out by hand from rational
// numbers (one_unit_by_hand.h).
// Kind: exact where only sums and products of such numbers are computed (the LSTM ops and rnn_relu); elsewhere
// within the bounds of the implementation's side.
// Catches: gross errors anywhere, including the harness: this is the only law that depends neither on the equations
// nor on another run.
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/one_unit_by_hand.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace is_what_one_unit_gives_by_hand_law {
namespace {

Case about(Case c) {
  c.data = DataProfile::kStratified;
  c.T = c.B = c.I = c.H = c.layers = c.seq_len_max = 1;
  c.cell_clip = c.dropout = 0;
  c.direction = BACKGAUGE_UNIDIRECTIONAL;
  c.input_mode = BACKGAUGE_LINEAR_INPUT;
  return c;
}

// Saved activations are inputs, so that nothing but sums and products is computed.
bool is_exact(const Case& c) { return spec_of(c.op).has(Role::kSaved) || c.rnn_mode == BACKGAUGE_RNN_RELU; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const Claims claims = *claims_of(implementation, c.op);
  if (declared(claims, c.dtype).computes_co()) {
    return {Outcome::kSaysNothing, "co is recomputed, and tanh(cs) is not rational"};
  }
  const bool coarse = is_narrow(c.dtype) || claims.numerical_contract[c.dtype] != BACKGAUGE_FP32_STRICT;
  const ByHand hand = one_unit_by_hand(c, coarse);
  const Answer made = answer(implementation, hand.problem);
  const auto got = is_exact(c) ? exactly(made) : with_bounds(implementation, made, {.structured = true});
  Agreement agreement(implementation, c);
  for (const Wanted& output : got) {
    Wanted expected = zeros_like(output);
    expected.value = named(hand.results, output.name).value;
    agreement.expect(output, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace is_what_one_unit_gives_by_hand_law

Law is_what_one_unit_gives_by_hand() {
  using namespace is_what_one_unit_gives_by_hand_law;
  return {"M25",
          "IsWhatOneUnitGivesByHand",
          "one unit, one step and one sample give what a calculation by hand gives",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
