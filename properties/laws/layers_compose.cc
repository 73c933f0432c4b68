// SPDX-License-Identifier: Apache-2.0
// Law: a net of L layers without dropout is L nets of one layer, the output of each the input of the next, and the
// input's gradient of each what comes from above for the one before. Kind: within twice the bound of the net, because
// evaluating it layer by layer is one of the orders that the bound covers.
// catches: params, states or widths of the wrong layer, directions of a lower layer lost, a gradient that skips a layer
// or is added to it twice, gradients of the states given to the wrong layer.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace {

Case about(Case c) {
  c = without_half(with_finite_values(c));
  c.layers = std::max<std::int64_t>(c.layers, 2);
  c.dropout = 0;
  return c;
}

Tensor as_input(const Wanted& wanted, std::string name) {
  return {std::move(name), wanted.shape, {wanted.value.begin(), wanted.value.end()}};
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto net = bounded_answer(implementation, problem, facts);
  const std::int64_t D = problem.extents.D;
  std::vector<Problem> layers;
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    layers.push_back(subnet_problem(problem, {.layer = layer, .first_direction = 0, .directions = D}));
    if (layer == 0) continue;
    const Answer below = answer(implementation, layers[layer - 1]);
    input(layers[layer], "input") = as_input(named(exactly(below), "output"), "input");
  }
  Agreement agreement(implementation, c);
  const auto expect = [&](Wanted part_of_net, const Wanted& alone) {
    Wanted expected = part_of_net;
    expected.value = alone.value;
    agreement.expect(part_of_net, expected);
  };
  for (std::int64_t layer = c.layers - 1; layer >= 0; --layer) {
    const Subnet subnet{.layer = layer, .first_direction = 0, .directions = D};
    const auto alone = exactly(answer(implementation, layers[layer]));
    for (const char* name : {"output_h", "output_c", "input_h_backprop", "input_c_backprop"}) {
      const bool is_cell_state = std::string_view(name).find("_c") != std::string_view::npos;
      if (is_cell_state && c.rnn_mode != BACKGAUGE_LSTM) continue;
      expect(select(named(net, name), states_of(problem, subnet)), named(alone, name));
    }
    expect(select(named(net, "params_backprop"), params_of(layout_of(problem), subnet)),
           named(alone, "params_backprop"));
    if (layer == c.layers - 1) expect(named(net, "output"), named(alone, "output"));
    if (layer == 0) expect(named(net, "input_backprop"), named(alone, "input_backprop"));
    if (layer > 0) {
      input(layers[layer - 1], "output_backprop") = as_input(named(alone, "input_backprop"), "output_backprop");
    }
  }
  return agreement.finding();
}

}  // namespace

Law layers_compose() {
  return {"M15",    "LayersCompose", "a net without dropout is its layers, one after the other",
          kCudnnOp, Sizes::kSmall,   about,
          check};
}

}  // namespace backgauge
