// SPDX-License-Identifier: Apache-2.0
#include <exception>

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
    return law.check(implementation, c);
  } catch (const std::exception& error) {
    return {Outcome::kBroken, error.what()};
  }
}

}  // namespace backgauge
