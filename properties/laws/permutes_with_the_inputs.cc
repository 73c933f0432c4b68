// SPDX-License-Identifier: Apache-2.0
// Law: with the columns of the input and of what multiplies it in another order, its gradient and that of the matrix
// stand in that order, and all else is what it was. Kind: within the bounds of both sides.
// catches: columns lost where I is no multiple of a vector, the width of one layer or operand taken for that of
// another, a matrix read along the other axis.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.I = std::max<std::int64_t>(c.I, 2);
  if (skips_input(c)) c.input_mode = BACKGAUGE_LINEAR_INPUT;
  return c;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const Portion all{shuffled_places(c.I, c.seed), all_places(c.H)};
  const auto before = bounded_answer(implementation, problem, facts);
  Agreement agreement(implementation, c);
  for (const Wanted& after : bounded_answer(implementation, portion_of(problem, all), facts)) {
    agreement.expect(after, select(named(before, after.name), portion_of(problem, after.name, all)));
  }
  return agreement.finding();
}

}  // namespace

Law permutes_with_the_inputs() {
  return {"M5b",
          "PermutesWithTheInputs",
          "input columns in another order give their gradients in that order and all else as it was",
          ops_with_steps,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
