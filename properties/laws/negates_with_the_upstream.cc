// SPDX-License-Identifier: Apache-2.0
// Law: If all upstream gradients change their sign, so do all gradients, bit for bit, because rounding to nearest is
// symmetric.
// Kind: exact.
// Catches: abs, clipping on one side, a relu applied to gradients, biased rounding to half, constants added.
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace negates_with_the_upstream_law {
namespace {

Case about(Case c) { return c; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  const auto plus = exactly(answer(implementation, problem));
  change_upstream(problem, [](std::string_view, std::int64_t, double value) { return -value; });
  const auto minus = exactly(answer(implementation, problem));
  Agreement agreement(implementation, c);
  for (const TensorSpec& output : find_op(c.op)->outputs) {
    if (!output.present(problem.extents)) continue;
    Wanted expected = named(plus, output.name);
    for (long double& value : expected.value) value = -value;
    agreement.expect(named(minus, output.name), expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace negates_with_the_upstream_law

Law negates_with_the_upstream() {
  using namespace negates_with_the_upstream_law;
  return {"M12",
          "NegatesWithTheUpstream",
          "upstream gradients of opposite sign give gradients of opposite sign",
          every_op,
          Sizes::kWide,
          about,
          check};
}

}  // namespace backgauge
