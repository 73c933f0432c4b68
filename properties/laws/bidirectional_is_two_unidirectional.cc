// SPDX-License-Identifier: Apache-2.0
// Law: A bidirectional layer is two unidirectional layers, the second on reversed time. Their gradients of the input
// are added; all other results are concatenated.
// Kind: within the bounds of both sides.
// Catches: directions swapped in params, states or outputs; time not reversed, or reversed twice, in any of them;
// the input's gradient of one direction lost; states carried from one direction to the other.
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace bidirectional_is_two_unidirectional_law {
namespace {

Case about(Case c) {
  c = with_finite_values(c);
  c.direction = BACKGAUGE_BIDIRECTIONAL;
  c.layers = 1;
  c.dropout = 0;
  return c;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto both = bounded_answer(implementation, problem, facts);
  Agreement agreement(implementation, c);
  std::vector<Wanted> input_gradients;
  for (const std::int64_t direction : {0, 1}) {
    const Subnet subnet{.layer = 0, .first_direction = direction, .directions = 1};
    Problem single = subnet_problem(problem, subnet);
    for (const char* name : {"input", "output_backprop"}) {
      input(single, name) = in_order_of(direction, input(single, name));
    }
    const auto alone = bounded_answer(implementation, single, facts);
    agreement.expect(select(named(both, "output"), outputs_of(problem, subnet)),
                     in_order_of(direction, named(alone, "output")));
    for (const char* name : {"output_h", "output_c", "input_h_backprop", "input_c_backprop"}) {
      const bool is_cell_state = std::string_view(name).find("_c") != std::string_view::npos;
      if (is_cell_state && c.rnn_mode != BACKGAUGE_LSTM) continue;
      agreement.expect(select(named(both, name), states_of(problem, subnet)), named(alone, name));
    }
    agreement.expect(select(named(both, "params_backprop"), params_of(layout_of(problem), subnet)),
                     named(alone, "params_backprop"));
    input_gradients.push_back(in_order_of(direction, named(alone, "input_backprop")));
  }
  agreement.expect(named(both, "input_backprop"), sum(input_gradients[0], input_gradients[1]));
  return agreement.finding();
}

}  // namespace
}  // namespace bidirectional_is_two_unidirectional_law

Law bidirectional_is_two_unidirectional() {
  using namespace bidirectional_is_two_unidirectional_law;
  return {"M14",
          "BidirectionalIsTwoUnidirectional",
          "a bidirectional layer is two unidirectional ones, the second on reversed time",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
