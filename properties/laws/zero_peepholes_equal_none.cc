// SPDX-License-Identifier: Apache-2.0
// Law: With peephole weights of zero, everything except their own gradients is the same as without peepholes.
// Kind: within the bounds of both sides.
// Catches: one cell state read instead of another (cs_prev for cs), peephole terms that do not multiply their
// weight, weights read without peepholes, peephole gradients that are not cleared without peepholes.
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace zero_peepholes_equal_none_law {
namespace {

Case about(Case c) {
  c = with_finite_values(c);
  c.use_peephole = true;
  return c;
}

bool is_peephole_gradient(std::string_view name) { return name.starts_with("wc"); }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  Problem zero = problem, none = problem;
  for (const char* name : {"wci", "wcf", "wco"}) {
    Tensor& weights = input(zero, name);
    weights.values.assign(weights.values.size(), 0);
  }
  none.attributes.use_peephole = 0;
  none.extents.peephole = false;
  const auto with = bounded_answer(implementation, zero, facts), without = bounded_answer(implementation, none, facts);
  Agreement agreement(implementation, c);
  for (const Wanted& output : without) {
    agreement.expect(output, is_peephole_gradient(output.name) ? zeros_like(output) : named(with, output.name));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace zero_peepholes_equal_none_law

Law zero_peepholes_equal_none() {
  using namespace zero_peepholes_equal_none_law;
  return {"M8",
          "ZeroPeepholesEqualNone",
          "with peepholes of zero everything except their own gradients is as without peepholes",
          ops_with_peepholes,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
