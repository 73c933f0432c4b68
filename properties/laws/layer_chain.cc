// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/layer_chain.h"

#include <string>
#include <vector>

#include "properties/laws/subnet.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// Applies the mask of a gap: kept elements are multiplied by 1 / (1 - dropout).
Tensor passed(const Problem& net, std::int64_t gap, const Wanted& values, std::string name) {
  Tensor out{std::move(name), values.shape, {values.value.begin(), values.value.end()}};
  if (net.keep.empty()) return out;
  const std::vector<std::uint8_t>& keep = net.mask(gap, 0);
  const double scale = 1 / (1 - static_cast<double>(net.attributes.dropout));
  for (std::size_t k = 0; k < keep.size(); ++k) {
    out.values[k] = keep[k] != 0 ? round_to(net.dtype, out.values[k] * scale) : 0;
  }
  return out;
}

}  // namespace

void expect_layer_chain(Agreement& agreement, const backgauge_implementation& implementation, const Answer& net,
                        const DataFacts& facts) {
  const Problem& problem = net.problem;
  const auto whole = with_bounds(implementation, net, facts);
  const std::int64_t L = problem.extents.L, D = problem.extents.D;
  std::vector<Problem> layers;
  for (std::int64_t layer = 0; layer < L; ++layer) {
    layers.push_back(subnet_problem(problem, {.layer = layer, .first_direction = 0, .directions = D}));
    if (layer == 0) continue;
    const Answer below = answer(implementation, layers[layer - 1]);
    input(layers[layer], "input") = passed(problem, layer - 1, named(exactly(below), "output"), "input");
  }
  const auto expect = [&](const Wanted& part_of_net, const Wanted& alone) {
    Wanted expected = part_of_net;
    expected.value = alone.value;
    agreement.expect(part_of_net, expected);
  };
  for (std::int64_t layer = L - 1; layer >= 0; --layer) {
    const Subnet subnet{.layer = layer, .first_direction = 0, .directions = D};
    const auto alone = exactly(answer(implementation, layers[layer]));
    for (const char* name : {"output_h", "output_c", "input_h_backprop", "input_c_backprop"}) {
      const bool is_cell_state = std::string_view(name).find("_c") != std::string_view::npos;
      if (is_cell_state && !problem.extents.lstm) continue;
      expect(select(named(whole, name), states_of(problem, subnet)), named(alone, name));
    }
    expect(select(named(whole, "params_backprop"), params_of(layout_of(problem), subnet)),
           named(alone, "params_backprop"));
    if (layer == L - 1) expect(named(whole, "output"), named(alone, "output"));
    if (layer == 0) expect(named(whole, "input_backprop"), named(alone, "input_backprop"));
    if (layer > 0) {
      input(layers[layer - 1], "output_backprop") =
          passed(problem, layer - 1, named(alone, "input_backprop"), "output_backprop");
    }
  }
}

}  // namespace backgauge
