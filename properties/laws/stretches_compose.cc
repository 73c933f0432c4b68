// SPDX-License-Identifier: Apache-2.0
// Law: A sequence is its first k steps followed by the rest. The second stretch starts from the final states of the
// first, and its gradients of those states are added to the upstream gradients of the first.
// Kind: within twice the bound of the whole, because evaluating it in two stretches is one of the orders that the
// bound covers.
// Catches: a carry that is lost, added twice or overwritten; states of the wrong step; work done at the first or the
// last step only; sums over steps that keep one step; T used instead of seq_len_max.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/ops/entry.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace stretches_compose_law {
namespace {

// Not for half: values passed from one stretch to the other would be rounded more often than inside one.
Case about(Case c) {
  c = without_narrow(without_random_dropout(with_finite_values(c)));
  set_steps(c, std::max<std::int64_t>(c.T, 2), std::max<std::int64_t>(c.seq_len_max, 2));
  c.direction = BACKGAUGE_UNIDIRECTIONAL;
  return c;
}

// In 1 .. S - 1.
std::int64_t middle_of(const Case& c) {
  const std::int64_t steps = steps_taken(c);
  return 1 + static_cast<std::int64_t>(c.seed % static_cast<std::uint64_t>(steps - 1));
}

// Steps begin .. end - 1; end - begin of them are read.
Problem stretch(const Problem& whole, std::int64_t begin, std::int64_t end) {
  Problem out = whole;
  out.extents.T = end - begin;
  for (Tensor& tensor : out.inputs) {
    const auto axis = dimension(whole.op, tensor.name, "T");
    if (axis) tensor = select(tensor, part(tensor.shape, *axis, begin, end));
    if (tensor_spec(whole.op, tensor.name).role != Role::kLength) continue;
    out.extents.S = std::min(whole.extents.S, end) - begin;
    tensor.values = {static_cast<double>(out.extents.S)};
  }
  return out;
}

// An output has steps, or is a state before the first or after the last step, or a sum over steps.
Wanted composed(backgauge_op op, const Wanted& first, const Wanted& second) {
  if (const auto axis = dimension(op, first.name, "T")) return joined(first, second, *axis);
  const Role role = tensor_spec(op, first.name).role;
  if (role == Role::kState || role == Role::kCellState) return first;
  if (role == Role::kForward) return second;
  return sum(first, second);
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto whole = bounded_answer(implementation, problem, facts);
  const std::int64_t middle = middle_of(c);
  Problem first = stretch(problem, 0, middle), second = stretch(problem, middle, c.T);
  law_ops::entry_of(c.op).enter_states(implementation, first, second);
  const auto later = exactly(answer(implementation, second));
  law_ops::entry_of(c.op).carry_back(later, first);
  const auto earlier = exactly(answer(implementation, first));
  Agreement agreement(implementation, c);
  for (const Wanted& output : whole) {
    Wanted expected = composed(c.op, named(earlier, output.name), named(later, output.name));
    expected.allowed = output.allowed;
    agreement.expect(output, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace stretches_compose_law

Law stretches_compose() {
  using namespace stretches_compose_law;
  return {"M2",
          "StretchesCompose",
          "a sequence is its first steps followed by the others, with states and gradients carried over",
          ops_with_steps,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
