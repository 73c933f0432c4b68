// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "properties/case/inputs.h"
#include "properties/case/random.h"
#include "properties/laws/answer.h"
#include "properties/laws/draw_case.h"
#include "properties/laws/law.h"

namespace backgauge {

std::vector<Law> laws() {
  return {matches_the_reference(),
          is_the_derivative_of_the_forward(),
          stretches_compose(),
          splits_over_the_batch(),
          permutes_with_the_batch(),
          permutes_with_the_units(),
          permutes_with_the_inputs(),
          one_step_is_the_cell(),
          truncates_at_seq_len_max(),
          zero_peepholes_equal_none(),
          steps_compose(),
          scales_by_powers_of_two(),
          scales_with_the_input(),
          is_additive_in_the_upstream(),
          negates_with_the_upstream(),
          zero_upstream_gives_exact_zeros(),
          bidirectional_is_two_unidirectional(),
          layers_compose(),
          dropout_multiplies_by_its_mask(),
          skip_is_identity_weights(),
          zero_states_hide_their_weights(),
          final_state_gradients_enter_like_outputs(),
          repeats_bitwise(),
          concurrent_calls_agree(),
          nan_stays_in_its_sample(),
          unconnected_units_are_two_nets(),
          is_what_one_unit_gives_by_hand(),
          palindromes_read_the_same_backwards(),
          gradients_flow_against_time()};
}

Finding check_law(const Law& law, const backgauge_implementation& implementation, const Case& c) {
  try {
    const Filled inputs = filled(c);
    const std::string reason = unclaimed(claims_of(implementation, c.op), inputs.problem, inputs.facts);
    if (!reason.empty()) return {Outcome::kSaysNothing, reason};
    return law.check(implementation, c);
  } catch (const Unclaimed& reason) {
    return {Outcome::kSaysNothing, reason.what()};
  } catch (const std::exception& error) {
    return {Outcome::kBroken, error.what()};
  }
}

std::vector<Case> law_cases(const Law& law, backgauge_op op, int count, std::uint64_t seed) {
  const RandomStream seeds(seed, law.name);
  std::vector<Case> out;
  for (int k = 0; k < count; ++k) out.push_back(law.about(draw_case(op, law.sizes, seeds.bits(k))));
  return out;
}

}  // namespace backgauge
