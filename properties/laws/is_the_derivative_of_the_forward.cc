// SPDX-License-Identifier: Apache-2.0
// Law: Along a random direction of +-1 for every input tensor (for every block of it, if it has gates), the gradient
// is the derivative of the forward equations (forward_slope.h).
// Kind: within the bounds of the implementation's side, added up.
// Catches: every error in a formula: a term that is missing, doubled or of the wrong sign, one gate used for
// another, a lost carry. It does not catch what happens at steps after seq_len_max, nor NaN that disappears.
#include <algorithm>
#include <cmath>

#include "properties/case/line/random.h"
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/forward_slope.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace is_the_derivative_of_the_forward_law {
namespace {

// The gradient ignores clipping, unlike the derivative of the forward (semantics.md 1.3). Gradients that may overflow
// cannot be summed.
Case about(Case c) {
  c = with_finite_values(c);
  c.cell_clip = 0;
  if (c.data == DataProfile::kHuge) c.data = DataProfile::kStratified;
  c.T = std::max<std::int64_t>(c.T, 1);
  c.seq_len_max = std::max<std::int64_t>(c.seq_len_max, 1);
  return c;
}

// Long double has 11 bits more than double: 2^-6 leaves 2^5 roundings more than the bound of any dtype counts.
constexpr double kOwnError = 0x1p-6;

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [drawn, facts, checksum, error] = filled(c);
  const auto forward = forward_slope(c, drawn);
  const Answer made = answer(implementation, forward->problem());
  const auto gradients = with_bounds(implementation, made, facts);
  const Declared declaration = declared_by(implementation, made);
  const RandomStream signs(c.seed, "direction");
  Agreement agreement(implementation, c);
  std::int64_t drawn_signs = 0;
  for (const Direction& direction : forward->directions()) {
    const Wanted& gradient = named(gradients, direction.gradient);
    Wanted along{direction.gradient + " along " + direction.name, {}, {0}, {0}}, slope = along;
    long double size = 0;
    std::vector<double> step(gradient.value.size());
    for (const std::size_t at : direction.elements) {
      step[at] = signs.sign(drawn_signs++);
      along.value[0] += gradient.value[at] * static_cast<long double>(step[at]);
      size += std::fabs(gradient.value[at]);
      along.allowed[0] += gradient.allowed[at] * (1 + kOwnError);
    }
    slope.value[0] = forward->along(direction, step, made.problem.keep, declaration);
    // A sum that happens to cancel must still reveal a wrong term. Both sides are therefore raised by the size of their
    // terms, and by twice that, because the sum may be as large and negative.
    const long double raised = along.value[0] + 2 * size;
    const auto compared = static_cast<long double>(static_cast<double>(raised));  // agreement.h: got is a double
    slope.value[0] += 2 * size + (compared - raised);
    along.value[0] = compared;
    agreement.expect(along, slope);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace is_the_derivative_of_the_forward_law

Law is_the_derivative_of_the_forward() {
  using namespace is_the_derivative_of_the_forward_law;
  return {"M1",
          "IsTheDerivativeOfTheForward",
          "along any direction the gradient is the derivative of the forward equations",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
