// SPDX-License-Identifier: Apache-2.0
// Law: If the samples of a batch are permuted, per-sample outputs are permuted in the same way, and sums over
// samples do not change.
// Kind: within the bounds of both sides; the contract does not promise that a sample's bits are independent of its
// row.
// Catches: a row that is treated differently (the first, the last, one after a full tile), states or gradients of a
// neighbouring row, sums that omit rows or weight them by position.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace permutes_with_the_batch_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.B = std::max<std::int64_t>(c.B, 2);
  return c;
}

template <class Values>
Values permuted(backgauge_op op, const Values& values, const Places& order) {
  const auto axis = dimension(op, values.name, "B");
  if (!axis) return values;
  std::vector<Places> places;
  for (const std::int64_t length : values.shape) places.push_back(all_places(length));
  places[*axis] = order;
  return select(values, elements_at(values.shape, places));
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const Places order = shuffled_places(c.B, c.seed);
  Problem other = problem;
  for (Tensor& tensor : other.inputs) tensor = permuted(c.op, tensor, order);
  const auto before = bounded_answer(implementation, problem, facts);
  Agreement agreement(implementation, c);
  for (const Wanted& after : bounded_answer(implementation, other, facts)) {
    agreement.expect(after, permuted(c.op, named(before, after.name), order));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace permutes_with_the_batch_law

Law permutes_with_the_batch() {
  using namespace permutes_with_the_batch_law;
  return {"M4",     "PermutesWithTheBatch", "a permuted batch gives permuted per-sample outputs and the same sums",
          every_op, Sizes::kSmall,          about,
          check};
}

}  // namespace backgauge
