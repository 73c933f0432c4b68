// SPDX-License-Identifier: Apache-2.0
// Law: with the samples of a batch in another order, per-sample outputs stand in that order, and sums over samples are
// what they were. Kind: within the bounds of both sides; no contract promises that a sample's bits do not depend on the
// row it stands in.
// catches: a row that is treated unlike the others (the first, the last, one behind a tile), states or gradients of the
// neighbour, sums that leave out or weigh rows by their place.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
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

Law permutes_with_the_batch() {
  return {"M4",
          "PermutesWithTheBatch",
          "a batch in another order gives per-sample outputs in that order and the same sums",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
