// SPDX-License-Identifier: Apache-2.0
// Law: output_h of the last layer is its output at the last step (for the second direction, at the first one in
// time). A gradient of one may therefore be given as a gradient of the other.
// Kind: exact, because one of the two summands is zero.
// Catches: output_h_backprop ignored, overwritten by output_backprop or the other way round, or added at the wrong
// end of time, to the other direction or to another layer.
#include <utility>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace final_state_gradients_enter_like_outputs_law {
namespace {

Case about(Case c) { return with_finite_values(std::move(c)); }

// The final state of one direction of the last layer, as elements of output_h and of output.
struct Final {
  std::vector<std::size_t> state, output;
};

Final final_of(const Problem& problem, std::int64_t direction) {
  const Extents& e = problem.extents;
  const std::int64_t last = direction == 0 ? e.T - 1 : 0, width = e.D * e.H;
  Final out;
  for (std::int64_t row = 0; row < e.B; ++row) {
    for (std::int64_t unit = 0; unit < e.H; ++unit) {
      out.state.push_back(static_cast<std::size_t>((((e.L - 1) * e.D + direction) * e.B + row) * e.H + unit));
      out.output.push_back(static_cast<std::size_t>((last * e.B + row) * width + direction * e.H + unit));
    }
  }
  return out;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem as_state = filled(c).problem, as_output = as_state;
  for (std::int64_t direction = 0; direction < as_state.extents.D; ++direction) {
    const Final places = final_of(as_state, direction);
    for (std::size_t k = 0; k < places.state.size(); ++k) {
      double& state = input(as_output, "output_h_backprop").values[places.state[k]];
      input(as_state, "output_backprop").values[places.output[k]] = 0;
      input(as_output, "output_backprop").values[places.output[k]] = state;
      state = 0;
    }
  }
  const auto first = exactly(answer(implementation, as_state));
  Agreement agreement(implementation, c);
  for (const Wanted& second : exactly(answer(implementation, as_output))) {
    agreement.expect(second, named(first, second.name));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace final_state_gradients_enter_like_outputs_law

Law final_state_gradients_enter_like_outputs() {
  using namespace final_state_gradients_enter_like_outputs_law;
  return {"M19b",
          "FinalStateGradientsEnterLikeOutputs",
          "a gradient of output_h may be given as one of output at the last step",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
