// SPDX-License-Identifier: Apache-2.0
// Law: BlockLSTMGradV2 is LSTMBlockCellGrad applied step by step from the last step to the first. The products with
// w are done here, and the gradients of cs_prev and h_prev of each step are added to the upstream gradients of the
// step before.
// Kind: within twice the bound of the block, because evaluating it step by step is one of the orders that the bound
// covers.
// Catches: steps in the wrong order; a carry that is lost, added twice or overwritten; cs_grad read at the last step
// only; states of the wrong step; gates of w or b_grad in the cell's order. A fault that both ops share is not
// caught.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace steps_compose_law {
namespace {

Case about(Case c) {
  c = without_narrow(with_finite_values(c));
  c.T = std::max<std::int64_t>(c.T, 1);
  c.seq_len_max = std::max<std::int64_t>(c.seq_len_max, 1);
  return c;
}

using Values = std::vector<double>;

class Composition {
 public:
  Composition(const backgauge_implementation& implementation, const Problem& block)
      : implementation_(implementation), block_(block), e_(block.extents), dtype_(block.dtype) {
    for (const TensorSpec& output : find_op(block.op)->outputs) {
      const Shape shape = output.shape(e_);
      const auto elements = static_cast<std::size_t>(element_count(shape).value());
      outputs_.push_back({std::string(output.name), shape, std::vector<long double>(elements), {}});
    }
  }

  std::vector<Wanted> run() {
    carried_cs_.assign(static_cast<std::size_t>(e_.B * e_.H), 0);
    carried_h_ = carried_cs_;
    for (std::int64_t t = e_.S - 1; t >= 0; --t) step(t);
    std::ranges::copy(carried_cs_, output("cs_prev_grad").value.begin());
    std::ranges::copy(carried_h_, output("h_prev_grad").value.begin());
    return std::move(outputs_);
  }

 private:
  Wanted& output(std::string_view name) {
    return *std::ranges::find_if(outputs_, [&](const Wanted& each) { return each.name == name; });
  }

  Values at_step(std::string_view name, std::int64_t t) const {
    const Tensor& all = *block_.find(name);
    return select(all, part(all.shape, 0, t, t + 1)).values;
  }

  // The state before step t: that of step t - 1, or the initial one.
  Values before(std::string_view states, std::string_view initial, std::int64_t t) const {
    return t == 0 ? block_.find(initial)->values : at_step(states, t - 1);
  }

  Values plus(Values a, const Values& b) const {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = round_to(dtype_, a[k] + b[k]);
    return a;
  }

  Problem cell_problem(std::int64_t t) const {
    Problem cell;
    cell.op = traits_of(block_.op).one_step.value();
    cell.dtype = dtype_;
    cell.attributes = block_.attributes;
    cell.extents = {.B = e_.B, .I = e_.I, .H = e_.H, .peephole = e_.peephole};
    for (const TensorSpec& spec : find_op(cell.op)->inputs) {
      const bool per_step = dimension(block_.op, spec.name, "T").has_value();
      Tensor tensor{std::string(spec.name), spec.shape(cell.extents), {}};
      tensor.values = spec.name == "cs_prev"  ? before("cs", "cs_prev", t)
                      : spec.name == "h_prev" ? before("h", "h_prev", t)
                      : per_step              ? at_step(spec.name, t)
                                              : block_.find(spec.name)->values;
      if (spec.name == "cs_grad") tensor.values = plus(tensor.values, carried_cs_);
      if (spec.name == "h_grad") tensor.values = plus(tensor.values, carried_h_);
      cell.inputs.push_back(std::move(tensor));
    }
    return cell;
  }

  void step(std::int64_t t) {
    const Problem cell = cell_problem(t);
    const auto gradients = exactly(answer(implementation_, cell));
    for (const char* name : {"wci_grad", "wcf_grad", "wco_grad"}) {
      for (std::int64_t j = 0; j < e_.H; ++j) output(name).value[j] += named(gradients, name).value[j];
    }
    const Wanted& carry = named(gradients, "cs_prev_grad");
    carried_cs_.assign(carry.value.begin(), carry.value.end());
    multiply(named(gradients, "dicfo"), t, cell.find("x")->values, cell.find("h_prev")->values);
  }

  // [x, h_prev]_grad = gates @ w^T, w_grad += [x, h_prev]^T @ gates, b_grad += gates, in double.
  void multiply(const Wanted& dicfo, std::int64_t t, const Values& x, const Values& h_prev) {
    const std::int64_t I = e_.I, H = e_.H, width = 4 * H;
    const Values& w = block_.find("w")->values;
    auto &x_grad = output("x_grad").value, &w_grad = output("w_grad").value, &b_grad = output("b_grad").value;
    for (std::int64_t row = 0; row < e_.B; ++row) {
      // The cell's gates are i, c, f, o; those of w are i, f, c, o.
      const auto gate = [&](std::int64_t column) {
        constexpr std::int64_t kBlockOfCell[4] = {0, 2, 1, 3};
        return dicfo.value[row * width + kBlockOfCell[column / H] * H + column % H];
      };
      for (std::int64_t column = 0; column < width; ++column) b_grad[column] += gate(column);
      for (std::int64_t k = 0; k < I + H; ++k) {
        const double entering = k < I ? x[row * I + k] : h_prev[row * H + k - I];
        long double gradient = 0;
        for (std::int64_t column = 0; column < width; ++column) {
          gradient += gate(column) * w[k * width + column];
          w_grad[k * width + column] += static_cast<long double>(entering) * gate(column);
        }
        const double rounded = round_to(dtype_, static_cast<double>(gradient));
        if (k < I) {
          x_grad[(t * e_.B + row) * I + k] = static_cast<long double>(rounded);
        } else {
          carried_h_[row * H + k - I] = rounded;
        }
      }
    }
  }

  const backgauge_implementation& implementation_;
  const Problem& block_;
  const Extents& e_;
  const backgauge_dtype dtype_;
  Values carried_cs_, carried_h_;
  std::vector<Wanted> outputs_;
};

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto block = bounded_answer(implementation, problem, facts);
  const auto composed = Composition(implementation, problem).run();
  Agreement agreement(implementation, c);
  for (const Wanted& output : block) {
    Wanted expected = output;
    expected.value = named(composed, output.name).value;
    agreement.expect(output, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace steps_compose_law

Law steps_compose() {
  using namespace steps_compose_law;
  return {
      "M9",  "StepsCompose", "BlockLSTMGradV2 is LSTMBlockCellGrad step by step", ops_with_seq_len_max, Sizes::kSmall,
      about, check};
}

}  // namespace backgauge
