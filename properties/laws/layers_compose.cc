// SPDX-License-Identifier: Apache-2.0
// Law: A net of L layers without dropout is L nets of one layer. The output of each is the input of the next; the
// input's gradient of each is the upstream gradient of the one before.
// Kind: within twice the bound of the net.
// Catches: params, states or widths of the wrong layer; directions of a lower layer lost; a gradient that skips a
// layer or is added to it twice; gradients of the states given to the wrong layer.
#include <algorithm>

#include "properties/laws/layer_chain.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace layers_compose_law {
namespace {

Case about(Case c) {
  c = without_narrow(with_finite_values(c));
  c.layers = std::max<std::int64_t>(c.layers, 2);
  c.dropout = 0;
  return c;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  Agreement agreement(implementation, c);
  expect_layer_chain(agreement, implementation, answer(implementation, problem), facts);
  return agreement.finding();
}

}  // namespace
}  // namespace layers_compose_law

Law layers_compose() {
  using namespace layers_compose_law;
  return {"M15",
          "LayersCompose",
          "a net without dropout is its layers, one after the other",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
