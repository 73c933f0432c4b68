// SPDX-License-Identifier: Apache-2.0
// Law: BlockLSTMGradV2 over one step is LSTMBlockCellGrad with the gates in the order i, f, c, o instead of i, c, f,
// o. Here w contains an identity, so that x_grad is the gradient of the pre-activations.
// Kind: within the bounds of both sides.
// Catches: the gate order of the other op, peepholes of the wrong gate, the cell state before a step used for the
// one after it. A fault that both ops share is not caught.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"

namespace backgauge {
namespace one_step_is_the_cell_law {
namespace {

Case about(Case c) {
  c = with_finite_values(c);
  c.T = 1;
  c.I = 4 * c.H;
  c.seq_len_max = 1;
  return c;
}

// The inputs that both ops have, by name; w is an identity over zeros. All others, which do not influence the compared
// outputs, are zeros.
Problem as_op(const Problem& problem, backgauge_op op) {
  Problem out = problem;
  out.op = op;
  out.inputs.clear();
  out.extents.T = out.extents.S = 1;
  const std::int64_t width = 4 * problem.extents.H;
  for (const TensorSpec& spec : find_op(op)->inputs) {
    Tensor tensor{std::string(spec.name), spec.shape(out.extents), {}};
    tensor.values.resize(static_cast<std::size_t>(element_count(tensor.shape).value()));
    if (spec.is_int64) {
      tensor.values = {1};
    } else if (spec.name == "w") {
      for (std::int64_t k = 0; k < width; ++k) tensor.values[k * width + k] = 1;
    } else if (const Tensor* same = problem.find(spec.name)) {
      tensor.values = same->values;
    }
    out.inputs.push_back(std::move(tensor));
  }
  return out;
}

// [1, B, 4H] in the block's order of gates to [B, 4H] in the cell's.
Wanted in_cell_order(Wanted x_grad, std::int64_t H) {
  x_grad.shape.erase(x_grad.shape.begin());
  Places columns;
  for (const std::int64_t gate : {0, 2, 1, 3}) {
    for (std::int64_t unit = 0; unit < H; ++unit) columns.push_back(gate * H + unit);
  }
  return select(x_grad, elements_at(x_grad.shape, {all_places(x_grad.shape[0]), columns}));
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const OpSpec& sequence = *std::ranges::find_if(op_specs(), [&](const OpSpec& spec) {
    return spec.traits.one_step && (spec.op == c.op || spec.traits.one_step == c.op);
  });
  const auto cell = bounded_answer(implementation, as_op(problem, *sequence.traits.one_step), facts);
  const auto block = bounded_answer(implementation, as_op(problem, sequence.op), facts);
  Agreement agreement(implementation, c);
  for (const Wanted& output : cell) {
    agreement.expect(output,
                     output.name == "dicfo" ? in_cell_order(named(block, "x_grad"), c.H) : named(block, output.name));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace one_step_is_the_cell_law

Law one_step_is_the_cell() {
  using namespace one_step_is_the_cell_law;
  return {"M6",
          "OneStepIsTheCell",
          "BlockLSTMGradV2 over one step is LSTMBlockCellGrad with the gates in another order",
          ops_with_peepholes,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
