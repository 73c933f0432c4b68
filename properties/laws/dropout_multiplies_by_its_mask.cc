// SPDX-License-Identifier: Apache-2.0
// Law: A net with dropout is its layers one by one, where everything passed between two layers is multiplied by the
// mask that the implementation reports, 1 / (1 - dropout) or 0, in the forward and in the backward. The same seeds
// give the same masks and bits, other seeds give other masks.
// Kind: within twice the bound of the net; exact for the seeds.
// Catches: a missing scale, or a scale of dropout instead of 1 - dropout; a mask that is drawn again in the
// backward, used in one direction of it only, taken from the wrong gap, or applied to the output of the net or the
// input of its first layer; a seed that is ignored.
#include <algorithm>

#include "properties/judge/compare/run_verdicts.h"
#include "properties/laws/layer_chain.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace dropout_multiplies_by_its_mask_law {
namespace {

Case about(Case c) {
  c = without_narrow(with_finite_values(c));
  c.layers = std::max<std::int64_t>(c.layers, 2);
  if (c.dropout == 0 || c.dropout == 1) c.dropout = c.seed % 2 == 0 ? 0.25 : 0.5;
  return c;
}

// Two draws of n elements are equal with probability (p^2 + (1 - p)^2)^n, at p = 0.25 or 0.5 at most 0.625^n: less than
// 10^-13 for this many.
constexpr std::size_t kEnoughToDiffer = 64;

std::string seeds_text(const backgauge_implementation& implementation, const Answer& first) {
  const Answer again = answer(implementation, first.problem);
  if (again.problem.keep != first.problem.keep) return "the same seeds gave a different dropout mask";
  if (claims_of(implementation, first.problem.op)->determinism[first.problem.dtype] != BACKGAUGE_NOT_DETERMINISTIC) {
    const std::string difference = first_difference(first.outputs, again.outputs);
    if (!difference.empty()) return "the same seeds: " + difference;
  }
  const auto& keep = first.problem.keep;
  if (keep.at(0).size() < kEnoughToDiffer) return "";
  if (keep.size() > 1 && keep[0] == keep[1]) return "two gaps or two directions have the same dropout mask";
  for (std::int64_t backgauge_attributes::*seed : {&backgauge_attributes::seed, &backgauge_attributes::seed2}) {
    Problem other = first.problem;
    other.attributes.*seed ^= 1;
    if (answer(implementation, other).problem.keep == keep) return "other seeds gave the same dropout mask";
  }
  return "";
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  auto [problem, facts, checksum, error] = filled(c);
  problem.attributes.seed2 &= INT32_MAX;  // semantics.md 7: below 0 it may hide a part of the other seed
  const Answer net = answer(implementation, problem);
  if (std::string text = seeds_text(implementation, net); !text.empty()) return {Outcome::kBroken, text};
  Agreement agreement(implementation, c);
  expect_layer_chain(agreement, implementation, net, facts);
  return agreement.finding();
}

}  // namespace
}  // namespace dropout_multiplies_by_its_mask_law

Law dropout_multiplies_by_its_mask() {
  using namespace dropout_multiplies_by_its_mask_law;
  return {"M16",
          "DropoutMultipliesByItsMask",
          "a net with dropout is its layers with the reported masks between them, which depend on the seeds",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
