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
          repeats_bitwise(),
          splits_over_the_batch(),
          is_additive_in_the_upstream(),
          zero_upstream_gives_exact_zeros(),
          negates_with_the_upstream(),
          scales_by_powers_of_two(),
          truncates_at_seq_len_max(),
          bidirectional_is_two_unidirectional(),
          layers_compose(),
          skip_is_identity_weights(),
          steps_compose(),
          zero_peepholes_equal_none()};
}

Finding check_law(const Law& law, const backgauge_implementation& implementation, const Case& c) {
  try {
    const Filled inputs = filled(c);
    const std::string reason = unclaimed(implementation, claims_of(implementation, c.op), inputs.problem, inputs.facts);
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
