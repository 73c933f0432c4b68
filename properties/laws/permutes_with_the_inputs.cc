// SPDX-License-Identifier: Apache-2.0
// Law: If the columns of the input are permuted together with the matrix rows that multiply them, the gradients of
// both are permuted in the same way, and nothing else changes.
// Kind: within the bounds of both sides.
// Catches: columns lost where I is not a multiple of the vector length, the width of one layer or operand used for
// another, a matrix read along the wrong axis.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
namespace permutes_with_the_inputs_law {
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
}  // namespace permutes_with_the_inputs_law

Law permutes_with_the_inputs() {
  using namespace permutes_with_the_inputs_law;
  return {"M5b",
          "PermutesWithTheInputs",
          "permuted input columns give permuted gradients of them, and nothing else changes",
          ops_with_steps,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
