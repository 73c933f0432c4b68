// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad and BlockLSTMGradV2. reference/semantics.md sections 1 and 2.
//
// The ops differentiate a forward pass whose results were saved, and the saved tensors need not fit each other. So
// every saved tensor is a node that has the saved value, whatever its operands give, and whose slope follows from that
// value. The clip of cs is such a node, with slope 1.
#include <optional>

#include "reference/testing/witness/graph.h"

namespace backgauge {
namespace {

// Without peephole terms.
template <class Scalar>
struct PreActivations {
  Variable<Scalar> i, c, f, o;
};

template <class Scalar>
struct Peephole {
  Variable<Scalar> wci, wcf, wco;
};

template <class Scalar>
struct State {
  Variable<Scalar> cs, h;
};

// One element of a saved tensor.
template <class Scalar>
Scalar saved(const Problem& problem, std::string_view name, std::int64_t index) {
  return static_cast<Scalar>(problem.find(name)->values[index]);
}

// One step of one unit. `element` is its index in the saved tensors. cs is read only if there is a peephole or a next
// step, h only if there is a next step.
template <class Scalar>
State<Scalar> step(const Problem& problem, std::int64_t element, PreActivations<Scalar> g,
                   const std::optional<Peephole<Scalar>>& peephole, Variable<Scalar> cs_prev, bool has_next) {
  if (peephole) {
    g.i = g.i + cs_prev * peephole->wci;
    g.f = g.f + cs_prev * peephole->wcf;
  }
  const auto i = saved_sigmoid(g.i, saved<Scalar>(problem, "i", element));
  const auto f = saved_sigmoid(g.f, saved<Scalar>(problem, "f", element));
  const auto ci = saved_tanh(g.c, saved<Scalar>(problem, "ci", element));
  auto cs = i * ci + f * cs_prev;
  if (peephole || has_next) cs = straight_through(cs, saved<Scalar>(problem, "cs", element));
  if (peephole) g.o = g.o + cs * peephole->wco;
  const auto o = saved_sigmoid(g.o, saved<Scalar>(problem, "o", element));
  const auto co = saved_tanh(cs, saved<Scalar>(problem, "co", element));
  auto h = o * co;
  if (has_next) h = straight_through(h, saved<Scalar>(problem, "h", element));
  return {cs, h};
}

// Leaves of the three peephole weights, [H] each; none without peephole.
template <class Scalar>
struct PeepholeLeaves {
  Variables<Scalar> wci, wcf, wco;

  PeepholeLeaves(Tape<Scalar>& tape, const Problem& problem, bool reads)
      : wci(leaves(tape, problem, "wci", reads ? problem.extents.H : 0)),
        wcf(leaves(tape, problem, "wcf", reads ? problem.extents.H : 0)),
        wco(leaves(tape, problem, "wco", reads ? problem.extents.H : 0)) {}

  std::optional<Peephole<Scalar>> of(std::int64_t unit) const {
    if (wci.empty()) return std::nullopt;
    return Peephole<Scalar>{wci[unit], wcf[unit], wco[unit]};
  }
};

// What the loss gains from one element of the upstream gradients.
template <class Scalar>
Variable<Scalar> upstream(Tape<Scalar>& tape, const Problem& problem, std::int64_t element,
                          const State<Scalar>& state) {
  const auto cs_grad = tape.leaf(saved<Scalar>(problem, "cs_grad", element));
  const auto h_grad = tape.leaf(saved<Scalar>(problem, "h_grad", element));
  return cs_grad * state.cs + h_grad * state.h;
}

}  // namespace

template <class Scalar>
std::vector<WitnessTensor<Scalar>> lstm_block_cell_grad_witness(const Problem& problem) {
  const std::int64_t B = problem.extents.B, H = problem.extents.H;
  Tape<Scalar> tape;
  const auto cs_prev = leaves(tape, problem, "cs_prev", B * H);
  const auto gates = unread(tape, B * 4 * H);  // i, c, f, o
  const PeepholeLeaves<Scalar> peephole(tape, problem, problem.extents.peephole);

  auto loss = tape.leaf(0);
  for (std::int64_t batch = 0; batch < B; ++batch) {
    for (std::int64_t unit = 0; unit < H; ++unit) {
      const std::int64_t element = batch * H + unit;
      const std::int64_t row = batch * 4 * H + unit;
      const PreActivations<Scalar> g{gates[row], gates[row + H], gates[row + 2 * H], gates[row + 3 * H]};
      const auto state = step(problem, element, g, peephole.of(unit), cs_prev[element], false);
      loss = loss + upstream(tape, problem, element, state);
    }
  }

  const Derivatives<Scalar> of_loss(loss);
  return {gradient("cs_prev_grad", {B, H}, of_loss, cs_prev), gradient("dicfo", {B, 4 * H}, of_loss, gates),
          gradient("wci_grad", {H}, of_loss, peephole.wci), gradient("wcf_grad", {H}, of_loss, peephole.wcf),
          gradient("wco_grad", {H}, of_loss, peephole.wco)};
}

template <class Scalar>
std::vector<WitnessTensor<Scalar>> block_lstm_grad_v2_witness(const Problem& problem) {
  const std::int64_t T = problem.extents.T, B = problem.extents.B, I = problem.extents.I, H = problem.extents.H;
  const std::int64_t S = problem.extents.S;
  const bool runs = S > 0;
  Tape<Scalar> tape;
  const auto x = leaves(tape, problem, "x", S * B * I);
  const auto cs_prev = leaves(tape, problem, "cs_prev", runs ? B * H : 0);
  const auto h_prev = leaves(tape, problem, "h_prev", runs ? B * H : 0);
  const auto w = leaves(tape, problem, "w", runs ? (I + H) * 4 * H : 0);
  const auto b = unread(tape, runs ? 4 * H : 0);
  const PeepholeLeaves<Scalar> peephole(tape, problem, runs && problem.extents.peephole);

  auto loss = tape.leaf(0);
  Variables<Scalar> cs = cs_prev;
  Variables<Scalar> h = h_prev;
  for (std::int64_t time = 0; time < S; ++time) {
    const Variables<Scalar> before = h;
    for (std::int64_t batch = 0; batch < B; ++batch) {
      // Pre-activation of a column of w: i, f, c, o blocks of H each.
      const auto gate = [&](std::int64_t column) {
        auto sum = b[column];
        for (std::int64_t k = 0; k < I; ++k) sum = sum + x[(time * B + batch) * I + k] * w[k * 4 * H + column];
        for (std::int64_t k = 0; k < H; ++k) sum = sum + before[batch * H + k] * w[(I + k) * 4 * H + column];
        return sum;
      };
      for (std::int64_t unit = 0; unit < H; ++unit) {
        const std::int64_t element = (time * B + batch) * H + unit;
        const PreActivations<Scalar> g{
            .i = gate(unit), .c = gate(2 * H + unit), .f = gate(H + unit), .o = gate(3 * H + unit)};
        auto& unit_cs = cs[batch * H + unit];
        const auto state = step(problem, element, g, peephole.of(unit), unit_cs, time + 1 < S);
        loss = loss + upstream(tape, problem, element, state);
        unit_cs = state.cs;
        h[batch * H + unit] = state.h;
      }
    }
  }

  const Derivatives<Scalar> of_loss(loss);
  return {gradient("x_grad", {T, B, I}, of_loss, x),        gradient("cs_prev_grad", {B, H}, of_loss, cs_prev),
          gradient("h_prev_grad", {B, H}, of_loss, h_prev), gradient("w_grad", {I + H, 4 * H}, of_loss, w),
          gradient("wci_grad", {H}, of_loss, peephole.wci), gradient("wcf_grad", {H}, of_loss, peephole.wcf),
          gradient("wco_grad", {H}, of_loss, peephole.wco), gradient("b_grad", {4 * H}, of_loss, b)};
}

template std::vector<WitnessTensor<double>> lstm_block_cell_grad_witness(const Problem&);
template std::vector<WitnessTensor<long double>> lstm_block_cell_grad_witness(const Problem&);
template std::vector<WitnessTensor<double>> block_lstm_grad_v2_witness(const Problem&);
template std::vector<WitnessTensor<long double>> block_lstm_grad_v2_witness(const Problem&);

}  // namespace backgauge
