// SPDX-License-Identifier: Apache-2.0
// Law: A sequence is its first k steps followed by the rest. The second stretch starts from the final states of the
// first, and its gradients of those states are added to the upstream gradients of the first.
// Kind: within twice the bound of the whole, because evaluating it in two stretches is one of the orders that the
// bound covers.
// Catches: a carry that is lost, added twice or overwritten; states of the wrong step; work done at the first or the
// last step only; sums over steps that keep one step; T used instead of seq_len_max.
#include <algorithm>
#include <set>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace stretches_compose_law {
namespace {

// Not for half: values passed from one stretch to the other would be rounded more often than inside one.
Case about(Case c) {
  c = without_narrow(without_random_dropout(with_finite_values(c)));
  c.T = std::max<std::int64_t>(c.T, 2);
  c.direction = BACKGAUGE_UNIDIRECTIONAL;
  if (traits_of(c.op).has_seq_len_max) c.seq_len_max = std::max<std::int64_t>(c.seq_len_max, 2);
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
  for (Tensor& tensor : out.inputs) {
    const auto axis = dimension(whole.op, tensor.name, "T");
    if (axis) tensor = select(tensor, part(tensor.shape, *axis, begin, end));
  }
  out.extents.T = end - begin;
  if (traits_of(whole.op).has_seq_len_max) {
    out.extents.S = std::min(whole.extents.S, end) - begin;
    input(out, "seq_len_max").values = {static_cast<double>(out.extents.S)};
  }
  return out;
}

std::vector<double> values_of(const Wanted& wanted) { return {wanted.value.begin(), wanted.value.end()}; }

Tensor last_step(const Tensor& tensor) {
  return select(tensor, part(tensor.shape, 0, tensor.shape[0] - 1, tensor.shape[0]));
}

void enter_states(const backgauge_implementation& implementation, const Problem& first, Problem& second) {
  if (!traits_of(first.op).is_stacked) {
    input(second, "cs_prev").values = last_step(*first.find("cs")).values;
    input(second, "h_prev").values = last_step(*first.find("h")).values;
    return;
  }
  const auto made = exactly(answer(implementation, first));
  input(second, "input_h").values = values_of(named(made, "output_h"));
  if (first.extents.lstm) input(second, "input_c").values = values_of(named(made, "output_c"));
}

// Adds to the upstream gradients of the last step of the first stretch.
void carry_back(const std::vector<Wanted>& second, Problem& first) {
  if (traits_of(first.op).is_stacked) {
    input(first, "output_h_backprop").values = values_of(named(second, "input_h_backprop"));
    if (first.extents.lstm) input(first, "output_c_backprop").values = values_of(named(second, "input_c_backprop"));
    return;
  }
  for (const auto& [upstream, carry] : {std::pair{"cs_grad", "cs_prev_grad"}, {"h_grad", "h_prev_grad"}}) {
    Tensor& tensor = input(first, upstream);
    const std::vector<double> carried = values_of(named(second, carry));
    const std::size_t last = tensor.values.size() - carried.size();
    for (std::size_t k = 0; k < carried.size(); ++k) {
      tensor.values[last + k] = round_to(first.dtype, tensor.values[last + k] + carried[k]);
    }
  }
}

// An output has steps, or is a state before the first or after the last step, or a sum over steps.
Wanted composed(backgauge_op op, const Wanted& first, const Wanted& second) {
  static const std::set<std::string_view> kBefore{"cs_prev_grad", "h_prev_grad", "input_h_backprop",
                                                  "input_c_backprop"};
  static const std::set<std::string_view> kAfter{"output_h", "output_c"};
  if (const auto axis = dimension(op, first.name, "T")) return joined(first, second, *axis);
  if (kBefore.contains(first.name)) return first;
  if (kAfter.contains(first.name)) return second;
  return sum(first, second);
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto whole = bounded_answer(implementation, problem, facts);
  const std::int64_t middle = middle_of(c);
  Problem first = stretch(problem, 0, middle), second = stretch(problem, middle, c.T);
  enter_states(implementation, first, second);
  const auto later = exactly(answer(implementation, second));
  carry_back(later, first);
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
