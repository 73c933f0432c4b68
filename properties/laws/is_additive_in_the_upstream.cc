// SPDX-License-Identifier: Apache-2.0
// Law: The gradients for u1 + u2 are those for u1 plus those for u2.
// Kind: within the bounds of both sides.
// Catches: anything that is not linear in the upstream gradients (clipping, thresholds, abs), constants added to
// them, gradients scaled by something they should not depend on, outputs that keep their old contents.
#include <utility>

#include "properties/case/line/random.h"
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"
#include "reference/contract/dtypes.h"

namespace backgauge {
namespace is_additive_in_the_upstream_law {
namespace {

Case about(Case c) { return with_finite_values(std::move(c)); }

// Multiples of 1/64 from -8 to 8 (bfloat16: of 1/8): 11 significant bits (8) hold any of them and any sum of two, so
// nothing is lost in 16 bits either.
double on_grid(const Case& c, const std::string& stream, std::int64_t index) {
  const std::int64_t half = float_format(c.dtype).unit_roundoff > 0x1p-11 ? 64 : 512;  // of the values
  return 8 * static_cast<double>(RandomStream(c.seed, stream).choice(index, 2 * half) - half) /
         static_cast<double>(half);
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto gradients = [&, &p = problem, &f = facts](double first, double second) {
    Problem changed = p;
    change_upstream(changed, [&](std::string_view name, std::int64_t index, double) {
      return first * on_grid(c, std::string(name) + "/first", index) +
             second * on_grid(c, std::string(name) + "/second", index);
    });
    return bounded_answer(implementation, changed, f);
  };
  const auto both = gradients(1, 1), first = gradients(1, 0), second = gradients(0, 1);
  Agreement agreement(implementation, c);
  for (const TensorSpec& output : find_op(c.op)->outputs) {
    if (!output.present(problem.extents)) continue;
    agreement.expect(named(both, output.name), sum(named(first, output.name), named(second, output.name)));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace is_additive_in_the_upstream_law

Law is_additive_in_the_upstream() {
  using namespace is_additive_in_the_upstream_law;
  return {"M11",
          "IsAdditiveInTheUpstream",
          "the gradients of u1 + u2 are those of u1 plus those of u2",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
