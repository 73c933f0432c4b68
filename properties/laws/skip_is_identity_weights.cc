// SPDX-License-Identifier: Apache-2.0
// Law: skip_input is the same as linear_input where the input matrix of every gate is the identity.
// Kind: within the bounds of both sides.
// Catches: an input given to one gate only, the input's gradient taken from one gate or one direction, params laid
// out as if the matrices were there, biases dropped together with them.
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace skip_is_identity_weights_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.input_mode = BACKGAUGE_SKIP_INPUT;
  c.I = c.H;
  return c;
}

// Positions of the parameters without the first matrices in params with them.
Selection without_first_matrices(const RnnParams& linear) {
  Selection out{{linear.size()}, {}};
  const std::int64_t H = linear.hidden_size;
  for (std::int64_t k = 0; k < linear.size(); ++k) {
    bool first_matrix = false;
    for (std::int64_t direction = 0; direction < linear.directions; ++direction) {
      const std::int64_t begin = linear.W(0, direction, 0);
      first_matrix = first_matrix || (k >= begin && k < begin + linear.gates * H * H);
    }
    if (!first_matrix) out.from.push_back(static_cast<std::size_t>(k));
  }
  out.shape[0] = static_cast<std::int64_t>(out.from.size());
  return out;
}

Problem with_identity(const Problem& skip) {
  Problem out = skip;
  out.attributes.input_mode = BACKGAUGE_LINEAR_INPUT;
  const RnnParams layout = layout_of(out);
  out.extents.params_length = layout.size();
  const Selection kept = without_first_matrices(layout);
  Tensor& params = input(out, "params");
  std::vector<double> values(static_cast<std::size_t>(layout.size()));
  for (std::size_t k = 0; k < kept.from.size(); ++k) values[kept.from[k]] = params.values[k];
  for (std::int64_t direction = 0; direction < layout.directions; ++direction) {
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      for (std::int64_t unit = 0; unit < layout.hidden_size; ++unit) {
        values[layout.W(0, direction, gate) + unit * layout.hidden_size + unit] = 1;
      }
    }
  }
  params = {params.name, {layout.size()}, std::move(values)};
  return out;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const Problem identity = with_identity(problem);
  const auto skip = bounded_answer(implementation, problem, facts);
  const auto linear = bounded_answer(implementation, identity, facts);
  Agreement agreement(implementation, c);
  for (const Wanted& output : skip) {
    const Wanted& other = named(linear, output.name);
    const bool is_params = output.name == "params_backprop";
    agreement.expect(output, is_params ? select(other, without_first_matrices(layout_of(identity))) : other);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace skip_is_identity_weights_law

Law skip_is_identity_weights() {
  using namespace skip_is_identity_weights_law;
  return {"M17",
          "SkipIsIdentityWeights",
          "skip_input is linear_input with the identity as first matrices",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
