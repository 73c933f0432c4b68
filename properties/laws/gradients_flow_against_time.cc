// SPDX-License-Identifier: Apache-2.0
// Law: An upstream gradient at one step alone does not reach the input of any later step: its gradient there is
// exactly zero. If only the second direction has the upstream gradient, the same holds for the earlier steps.
// Kind: exact.
// Catches: steps that are off by one, gradients that move with time instead of against it, a carried gradient that
// is not cleared, the two directions confused.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace gradients_flow_against_time_law {
namespace {

Case about(Case c) {
  c = with_finite_values(c);
  set_steps(c, std::max<std::int64_t>(c.T, 2), std::max<std::int64_t>(c.seq_len_max, 2));
  // In a second layer, the output of one direction would enter both directions.
  if (c.direction == BACKGAUGE_BIDIRECTIONAL) c.layers = 1, c.dropout = 0;
  return c;
}

// The step and direction at which the upstream gradient enters; at one end of time the law would be vacuous.
struct Source {
  std::int64_t step, direction;
};
Source source_of(const Case& c) {
  const std::int64_t steps = steps_taken(c);
  const std::int64_t direction = c.direction == BACKGAUGE_BIDIRECTIONAL ? c.seed / 16 % 2 : 0;
  const std::int64_t step = static_cast<std::int64_t>(c.seed % 16) % (steps - 1);
  return {direction == 0 ? step : step + 1, direction};
}

// Upstream gradients of a step are [T, B, D * H], or [T, B, H] of one direction; those of the last state never enter.
bool enters(const Case& c, const Source& source, std::string_view name, std::int64_t index) {
  if (!dimension(c.op, name, "T")) return false;
  const std::int64_t width = c.direction == BACKGAUGE_BIDIRECTIONAL ? 2 * c.H : c.H;
  return index / (c.B * width) == source.step && index % width / c.H == source.direction;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  Problem problem = filled(c).problem;
  const Source source = source_of(c);
  change_upstream(problem, [&](std::string_view name, std::int64_t index, double value) {
    return enters(c, source, name, index) ? value : 0;
  });
  const auto got = exactly(answer(implementation, problem));
  const Wanted& gradient = named(got, spec_of(c.op).output(Role::kData).name);
  const bool forward = source.direction == 0;
  const Wanted out_of_reach = select(
      gradient, part(gradient.shape, 0, forward ? source.step + 1 : 0, forward ? problem.extents.T : source.step));
  Agreement agreement(implementation, c);
  agreement.expect(out_of_reach, zeros_like(out_of_reach));
  return agreement.finding();
}

}  // namespace
}  // namespace gradients_flow_against_time_law

Law gradients_flow_against_time() {
  using namespace gradients_flow_against_time_law;
  return {"M27",
          "GradientsFlowAgainstTime",
          "an upstream gradient at one step does not reach the input of a later one",
          ops_with_steps,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
