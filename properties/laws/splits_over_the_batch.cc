// SPDX-License-Identifier: Apache-2.0
// Law: A batch that is run in two parts gives the per-sample outputs of the whole, and sums over samples that add up
// to those of the whole.
// Kind: within the bounds of both sides.
// Catches: rows lost or counted twice where B is odd or not a multiple of a tile, samples that influence each other,
// sums over the batch that are assigned instead of added, b_grad or peephole gradients of one row only.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace splits_over_the_batch_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.B = std::max<std::int64_t>(c.B, 2);
  return c;
}

Problem rows(Problem problem, std::int64_t begin, std::int64_t end) {
  for (Tensor& tensor : problem.inputs) {
    const auto axis = dimension(problem.op, tensor.name, "B");
    if (axis) tensor = select(tensor, part(tensor.shape, *axis, begin, end));
  }
  problem.extents.B = end - begin;
  return problem;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const std::int64_t middle = 1 + static_cast<std::int64_t>(c.seed % static_cast<std::uint64_t>(c.B - 1));
  const auto whole = bounded_answer(implementation, problem, facts);
  const auto left = bounded_answer(implementation, rows(problem, 0, middle), facts);
  const auto right = bounded_answer(implementation, rows(problem, middle, c.B), facts);
  Agreement agreement(implementation, c);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    const auto axis = dimension(c.op, whole[k].name, "B");
    agreement.expect(whole[k], axis ? joined(left[k], right[k], *axis) : sum(left[k], right[k]));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace splits_over_the_batch_law

Law splits_over_the_batch() {
  using namespace splits_over_the_batch_law;
  return {"M3",
          "SplitsOverTheBatch",
          "two parts of a batch give its per-sample outputs, and sums that add up to those of the whole",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
