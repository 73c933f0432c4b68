// SPDX-License-Identifier: Apache-2.0
// Law: If no weight connects one half of the inputs and units with the other half, each half is a net of its own.
// Kind: within the bounds of both sides.
// Catches: a unit that reads its neighbour's gates or states, matrices read along the wrong axis, a stride of H
// where another width is needed, sums over units.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
namespace unconnected_units_are_two_nets_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.H = std::max<std::int64_t>(c.H, 2);
  if (c.input_mode == BACKGAUGE_SKIP_INPUT) c.I = c.H;
  return c;
}

// Every second input and unit, so that neither half is contiguous.
Places alternate(std::int64_t first, std::int64_t count) {
  Places out;
  for (std::int64_t place = first; place < count; place += 2) out.push_back(place);
  return out;
}

// Weights between the halves are zero.
Problem unconnected(Problem problem, const std::vector<Portion>& halves) {
  Tensor& weights = input(problem, spec_of(problem.op).input(Role::kWeight).name);
  std::vector<double> kept(weights.values.size());
  for (const Portion& half : halves) {
    for (const std::size_t at : portion_of(problem, weights.name, half).from) kept[at] = weights.values[at];
  }
  weights.values = std::move(kept);
  return problem;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [connected, facts, checksum, error] = filled(c);
  const std::vector<Portion> halves{{alternate(0, c.I), alternate(0, c.H)}, {alternate(1, c.I), alternate(1, c.H)}};
  const Problem problem = unconnected(connected, halves);
  const auto whole = bounded_answer(implementation, problem, facts);
  Agreement agreement(implementation, c);
  for (const Portion& half : halves) {
    for (const Wanted& alone : bounded_answer(implementation, portion_of(problem, half), facts)) {
      agreement.expect(select(named(whole, alone.name), portion_of(problem, alone.name, half)), alone);
    }
  }
  return agreement.finding();
}

}  // namespace
}  // namespace unconnected_units_are_two_nets_law

Law unconnected_units_are_two_nets() {
  using namespace unconnected_units_are_two_nets_law;
  return {"M24",
          "UnconnectedUnitsAreTwoNets",
          "two groups of inputs and units without a weight between them are two nets",
          every_op,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
