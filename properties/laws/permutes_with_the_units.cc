// SPDX-License-Identifier: Apache-2.0
// Law: If the hidden units are permuted, everything that belongs to a unit is permuted in the same way: states,
// gates, rows and columns of the matrices, biases, peepholes.
// Kind: within the bounds of both sides.
// Catches: units lost or computed twice where H is not a multiple of the vector length, a matrix read along the
// wrong axis, gates or biases of a neighbouring unit.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
namespace permutes_with_the_units_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.H = std::max<std::int64_t>(c.H, 2);
  if (c.input_mode == BACKGAUGE_SKIP_INPUT) c.I = c.H;
  return c;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const Places order = shuffled_places(c.H, c.seed);
  const Portion all{skips_input(c) ? order : all_places(c.I), order};
  const auto before = bounded_answer(implementation, problem, facts);
  Agreement agreement(implementation, c);
  for (const Wanted& after : bounded_answer(implementation, portion_of(problem, all), facts)) {
    agreement.expect(after, select(named(before, after.name), portion_of(problem, after.name, all)));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace permutes_with_the_units_law

Law permutes_with_the_units() {
  using namespace permutes_with_the_units_law;
  return {"M5", "PermutesWithTheUnits", "permuted hidden units give permuted results", every_op, Sizes::kSmall, about,
          check};
}

}  // namespace backgauge
