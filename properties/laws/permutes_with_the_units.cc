// SPDX-License-Identifier: Apache-2.0
// Law: with the hidden units in another order, everything that a unit has stands in that order: states, gates, rows and
// columns of the matrices, biases, peepholes. Kind: within the bounds of both sides.
// catches: units lost or computed twice where H is no multiple of a vector, a matrix read along the other axis, gates
// or biases of the neighbour, a unit that only others see.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
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

Law permutes_with_the_units() {
  return {"M5",     "PermutesWithTheUnits", "hidden units in another order give what belongs to a unit in that order",
          every_op, Sizes::kSmall,          about,
          check};
}

}  // namespace backgauge
