// SPDX-License-Identifier: Apache-2.0
// Stacked RNNs of the four modes, forward and backward, over any arithmetic. Equation numbers: cudnn_rnn.md.
// A pseudo-layer is one direction of one layer; the weights of its G gates are stacked row-wise, as in params. Weights
// and the input of the net are read where they are needed and not kept.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "reference/arithmetic/over_steps.h"
#include "reference/contract/backgauge.h"
#include "reference/equations/lstm_cell.h"

namespace backgauge::equations {

template <class M>
struct RnnWeights {  // of one pseudo-layer, and their gradients
  M W;               // [G*H, in]; no columns for layer 0 with skip_input
  M R;               // [G*H, H]
  M bW, bR;          // [1, G*H]
};

template <class M>
struct RnnNet {
  backgauge_rnn_mode mode;
  bool skip_input;  // layer 0 adds its input to every gate
  std::size_t steps, layers, directions;
  std::vector<M> input_h, input_c;  // [B, H] per pseudo-layer, layer-major; input_c for lstm only
  // Per gap between layers, direction of the layer above and step [B, D*H]: 0 or 1/(1-p). One mask may serve all
  // directions; empty: no dropout.
  std::vector<std::vector<std::vector<M>>> masks;
};

// The weights of a pseudo-layer, and [B, I] the input of step t.
template <class R, class M>
concept ReadsRnn = requires(const R& read, std::size_t k) {
  { read.weights(k) } -> std::same_as<RnnWeights<M>>;
  { read.input(k) } -> std::same_as<M>;
};

template <class M>
struct RnnStep {  // the values of one step of one pseudo-layer that the backward pass needs
  M h;            // [B, H]
  M p;            // relu: the pre-activation
  LstmSaved<M> lstm;
  M r, z, n, hn;  // gru; hn = R_n h_prev + bR_n
};

template <class M>
struct RnnTrace {                                    // of a forward pass
  std::vector<std::vector<RnnStep<M>>> steps;        // [pseudo-layer][t]
  std::vector<std::vector<std::vector<M>>> dropped;  // per mask of the net: what it leaves
  std::vector<M> output_h, output_c;                 // [pseudo-layer] [B, H]
};

template <class M>
struct RnnGradients {
  std::vector<M> input;             // [t] [B, I]
  std::vector<M> input_h, input_c;  // [pseudo-layer] [B, H]
  std::vector<RnnWeights<M>> layers;
};

namespace detail {

// [B, D*H] of layer l at step t, before dropout.
template <class A, class M>
M layer_output(const A& a, const RnnNet<M>& net, const RnnTrace<M>& trace, std::size_t l, std::size_t t) {
  std::vector<const M*> parts;
  for (std::size_t d = 0; d < net.directions; ++d) parts.push_back(&trace.steps[l * net.directions + d][t].h);
  return a.beside(parts);
}

// Gate g of a [B, G*H] matrix.
template <class A, class M>
M gate(const A& a, const M& gates, int g, Eigen::Index H) {
  return a.columns(gates, g * H, H);
}

// x repeated for every gate: the term that skip_input adds to the pre-activations.
template <class A, class M>
M under_every_gate(const A& a, const M& x, Eigen::Index gates) {
  return a.beside(std::vector<const M*>(static_cast<std::size_t>(gates), &x));
}

// The weights of a pseudo-layer as its steps read them: transposed, for some gates, with the biases as additional rows.
template <class M>
struct RnnStepWeights {
  M both_sides;   // (1) of all gates; gru: of r and z. [in + H + 2, .]; with skip_input [H + 2, .]
  M n_input;      // gru: [in + 1, H]; with skip_input only the bias, [1, H]
  M n_recurrent;  // gru: [H + 1, H]

  // Where the products are saved: those of each side [in, .] and [H, .], and the biases [1, .] of all gates.
  M input, recurrent, bW, bR;
};

template <class A, class M>
RnnStepWeights<M> step_weights(const A& a, const RnnNet<M>& net, const RnnWeights<M>& layer, bool skip) {
  const auto H = layer.R.cols(), G = layer.R.rows() / H;
  const M Rt = a.transpose(layer.R);
  const auto input_side = [&](Eigen::Index first, Eigen::Index count) {
    return a.transpose(a.rows(layer.W, first * H, count * H));
  };
  const auto of_gates = [&](const M& x, Eigen::Index first, Eigen::Index count) {
    return a.columns(x, first * H, count * H);
  };
  const bool gru = net.mode == BACKGAUGE_GRU;
  if (a.rounds_saved()) {
    RnnStepWeights<M> apart;
    if (!skip) apart.input = right_factor(a, input_side(0, G));
    apart.recurrent = right_factor(a, Rt);
    apart.bW = layer.bW;
    apart.bR = layer.bR;
    return apart;
  }
  const Eigen::Index count = gru ? 2 : G;
  const M recurrent = of_gates(Rt, 0, count), bR = of_gates(layer.bR, 0, count), bW = of_gates(layer.bW, 0, count);
  RnnStepWeights<M> out;
  if (skip) {
    out.both_sides = right_factor(a, a.below({&recurrent, &bR, &bW}));
  } else {
    const M Wt = input_side(0, count);
    out.both_sides = right_factor(a, a.below({&Wt, &recurrent, &bR, &bW}));
  }
  if (gru) {
    const M n_recurrent = of_gates(Rt, 2, 1), n_bR = of_gates(layer.bR, 2, 1), n_bW = of_gates(layer.bW, 2, 1);
    out.n_recurrent = right_factor(a, a.below({&n_recurrent, &n_bR}));
    if (skip) {
      out.n_input = n_bW;
    } else {
      const M n_Wt = input_side(2, 1);
      out.n_input = right_factor(a, a.below({&n_Wt, &n_bW}));
    }
  }
  return out;
}

template <class A, class M>
RnnStep<M> rnn_step_forward(const A& a, backgauge_rnn_mode mode, const RnnStepWeights<M>& weights, bool skip,
                            const M& x, const M& h_prev, const M* cs_prev) {
  const auto B = h_prev.rows(), H = h_prev.cols();
  const M ones = a.ones(B, 1);
  const auto G = a.rounds_saved() ? weights.bR.cols() / H : 0;
  // Where the products of the sides are saved, for all gates: W x, with or without the biases, and R h + bR.
  const M input = !a.rounds_saved() ? M() : skip ? under_every_gate(a, x, G) : a.saved(a.matmul(x, weights.input));
  const M recurrent_product = !a.rounds_saved() ? M() : a.saved(a.matmul(h_prev, weights.recurrent));
  const M recurrent = !a.rounds_saved() ? M() : a.sum(recurrent_product, a.repeat_row(weights.bR, B));
  const auto both_sides = [&] {  // (1): one sum of in + H + 2 terms
    if (a.rounds_saved()) {
      return a.sum(a.saved(a.sum(input, a.repeat_row(weights.bW, B), a.repeat_row(weights.bR, B))), recurrent_product);
    }
    if (skip) {
      return a.add_matmul(under_every_gate(a, x, weights.both_sides.cols() / H), a.beside({&h_prev, &ones, &ones}),
                          weights.both_sides);
    }
    return a.matmul(a.beside({&x, &h_prev, &ones, &ones}), weights.both_sides);
  };

  RnnStep<M> step;
  switch (mode) {
    case BACKGAUGE_RNN_RELU: {
      step.p = both_sides();
      step.h = a.carried(a.relu(step.p));  // (2)
      break;
    }
    case BACKGAUGE_RNN_TANH: step.h = a.carried(a.tanh(both_sides())); break;  // (3)
    case BACKGAUGE_LSTM: {                                                     // (4): i, f, n, o
      const M g = both_sides();
      const LstmGates<M> gates{
          .i = gate(a, g, 0, H), .ci = gate(a, g, 2, H), .f = gate(a, g, 1, H), .o = gate(a, g, 3, H)};
      step.lstm = lstm_cell_forward(a, gates, *cs_prev, static_cast<const Peepholes<M>*>(nullptr), 0.0);
      step.h = a.carried(a.product(step.lstm.o, step.lstm.co));
      break;
    }
    case BACKGAUGE_GRU: {  // r, z, n
      const M rz = a.sigmoid(a.rounds_saved() ? a.columns(both_sides(), 0, 2 * H) : both_sides());
      step.r = gate(a, rz, 0, H);  // (5)
      step.z = gate(a, rz, 1, H);  // (6)
      step.hn = a.rounds_saved() ? gate(a, recurrent, 2, H)
                                 : a.matmul(a.beside({&h_prev, &ones}), weights.n_recurrent);  // (7)
      const M input_side = a.rounds_saved()
                               ? a.saved(a.sum(gate(a, input, 2, H), a.repeat_row(a.columns(weights.bW, 2 * H, H), B)))
                           : skip ? a.sum(x, a.repeat_row(weights.n_input, B))  // W_n x + bW_n
                                  : a.matmul(a.beside({&x, &ones}), weights.n_input);
      step.n = a.tanh(a.sum(input_side, a.product(step.r, step.hn)));  // (8)
      step.h = a.carried(a.blend(step.z, h_prev, step.n));             // (9)
      break;
    }
  }
  return step;
}

// Gradients of one step with respect to its inputs, from dh and (lstm) dc.
template <class M>
struct RnnStepGradients {
  M da, dr;    // [B, G*H] of the a-side and r-side pre-activations
  M h_direct;  // gru: the part of the gradient of h_prev that bypasses the gates
  M cs_prev;   // lstm
};

template <class A, class M>
RnnStepGradients<M> rnn_step_backward(const A& a, backgauge_rnn_mode mode, const RnnStep<M>& step, const M& h_prev,
                                      const M* cs_prev, const M& dh, const M& dc) {
  RnnStepGradients<M> d;
  switch (mode) {
    case BACKGAUGE_RNN_RELU: d.da = d.dr = a.saved(a.where_positive(step.p, dh)); break;         // (10)
    case BACKGAUGE_RNN_TANH: d.da = d.dr = a.saved(a.product(a.tanh_slope(step.h), dh)); break;  // (11)
    case BACKGAUGE_LSTM: {                                                                       // (12)
      const LstmCellGradients<M> c =
          lstm_cell_backward(a, step.lstm, *cs_prev, dc, dh, static_cast<const Peepholes<M>*>(nullptr));
      d.da = d.dr = a.beside({&c.gates.i, &c.gates.f, &c.gates.ci, &c.gates.o});
      d.cs_prev = c.cs_prev;
      break;
    }
    case BACKGAUGE_GRU: {
      const M one = a.ones(dh.rows(), dh.cols());
      const M one_minus_z = a.difference(one, step.z);
      const M dn = a.saved(a.product(dh, one_minus_z, a.tanh_slope(step.n)));          // (13)
      const M z_slope = a.sigmoid_slope(step.z), by_z = a.difference(h_prev, step.n);  // in one order
      const M dz = a.saved(a.product(dh, by_z, z_slope));                              // (14)
      const M dr = a.saved(a.product(dn, step.hn, a.sigmoid_slope(step.r)));           // (15)
      const M dn_r = a.saved(a.product(dn, step.r));
      d.da = a.beside({&dr, &dz, &dn});
      d.dr = a.beside({&dr, &dz, &dn_r});  // (16)
      d.h_direct = a.product(dh, step.z);  // (17)
      break;
    }
  }
  return d;
}

// The step as the trace keeps it: h and cs are rounded already where they are carried.
template <class A, class M>
RnnStep<M> kept_step(const A& a, backgauge_rnn_mode mode, RnnStep<M> step) {
  step.h = kept(a, std::move(step.h));
  if (mode == BACKGAUGE_RNN_RELU) step.p = kept(a, std::move(step.p));
  if (mode == BACKGAUGE_LSTM) {
    step.lstm.cs = kept(a, std::move(step.lstm.cs));
    for (M LstmSaved<M>::*value :
         {&LstmSaved<M>::i, &LstmSaved<M>::f, &LstmSaved<M>::o, &LstmSaved<M>::ci, &LstmSaved<M>::co}) {
      step.lstm.*value = a.saved(std::move(step.lstm.*value));
    }
  }
  if (mode == BACKGAUGE_GRU) {
    step.r = kept(a, a.saved(std::move(step.r)));
    step.z = kept(a, a.saved(std::move(step.z)));
    step.n = a.saved(std::move(step.n));
    step.hn = a.saved(std::move(step.hn));
  }
  return step;
}

// What direction d of layer l reads at step t: [B, in], after dropout.
template <class A, class R, class M>
M layer_input(const A& a, const R& read, const RnnNet<M>& net, const RnnTrace<M>& trace, std::size_t l, std::size_t d,
              std::size_t t) {
  if (l == 0) return read.input(t);
  if (net.masks.empty()) return layer_output(a, net, trace, l - 1, t);
  const auto& dropped = trace.dropped[l - 1];
  return dropped[d % dropped.size()][t];
}

// W of all directions of layer l, one below the other.
template <class A, class R, class M = typename A::Matrix>
M input_weights(const A& a, const R& read, std::size_t directions, std::size_t l) {
  std::vector<M> weights;
  for (std::size_t d = 0; d < directions; ++d) weights.push_back(read.weights(l * directions + d).W);
  std::vector<const M*> parts;
  for (const M& part : weights) parts.push_back(&part);
  return a.below(parts);
}

}  // namespace detail

// Computes the outputs of the forward op, and everything that the backward pass needs.
template <class A, class M = typename A::Matrix, ReadsRnn<M> R>
RnnTrace<M> cudnn_rnn_forward(const A& a, const RnnNet<M>& net, const R& read) {
  const std::size_t T = net.steps, D = net.directions, L = net.layers;
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  RnnTrace<M> trace;
  for (std::size_t l = 0; l < L; ++l) {
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t pl = l * D + d;
      std::vector<RnnStep<M>> steps(T);
      const bool skip = net.skip_input && l == 0;
      const auto weights = detail::step_weights(a, net, read.weights(pl), skip);
      const M* h = &net.input_h[pl];
      const M* cs = lstm ? &net.input_c[pl] : nullptr;
      for (std::size_t k = 0; k < T; ++k) {
        const std::size_t t = d == 0 ? k : T - 1 - k;
        const M x = detail::layer_input(a, read, net, trace, l, d, t);
        steps[t] = detail::kept_step(a, net.mode, detail::rnn_step_forward(a, net.mode, weights, skip, x, *h, cs));
        h = &steps[t].h;
        if (lstm) cs = &steps[t].lstm.cs;
      }
      trace.output_h.push_back(*h);
      if (lstm) trace.output_c.push_back(*cs);
      trace.steps.push_back(std::move(steps));
    }
    if (l + 1 == L || net.masks.empty()) continue;
    auto& dropped = trace.dropped.emplace_back();
    for (const std::vector<M>& mask : net.masks[l]) {
      std::vector<M>& left = dropped.emplace_back();
      for (std::size_t t = 0; t < T; ++t) {
        left.push_back(kept(a, a.saved(a.product(detail::layer_output(a, net, trace, l, t), mask[t]))));  // (18)
      }
    }
  }
  return trace;
}

// [t] [B, D*H]
template <class A, class M = typename A::Matrix>
std::vector<M> cudnn_rnn_output(const A& a, const RnnNet<M>& net, const RnnTrace<M>& trace) {
  std::vector<M> out;
  for (std::size_t t = 0; t < net.steps; ++t) out.push_back(detail::layer_output(a, net, trace, net.layers - 1, t));
  return out;
}

// The gradients of a net with T >= 1 from its trace and the gradients of the loss with respect to output, as
// output_backprop(t) [B, D*H], and per pseudo-layer output_h and (lstm) output_c. Steps of the trace are released as
// soon as they have been used.
template <class A, class OutputBackprop, class M = typename A::Matrix, ReadsRnn<M> R>
RnnGradients<M> cudnn_rnn_backward(const A& a, const RnnNet<M>& net, const R& read, RnnTrace<M> trace,
                                   const OutputBackprop& output_backprop, const std::vector<M>& output_h_backprop,
                                   const std::vector<M>& output_c_backprop) {
  const std::size_t T = net.steps, D = net.directions, L = net.layers;
  const auto H = output_h_backprop[0].cols();
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  const auto held = [](M rows) { return std::make_shared<M>(std::move(rows)); };

  RnnGradients<M> out;
  out.input_h.resize(L * D);
  out.input_c.resize(lstm ? L * D : 0);
  out.layers.resize(L * D);
  std::vector<M> dy;  // unless the layer is the last
  for (std::size_t l = L; l-- > 0;) {
    const bool skip = net.skip_input && l == 0;
    std::vector<std::vector<std::shared_ptr<M>>> da(D, std::vector<std::shared_ptr<M>>(T));
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t pl = l * D + d;
      const M R_weights = right_factor(a, read.weights(pl).R);
      std::vector<RnnStep<M>>& steps = trace.steps[pl];
      ProductOverSteps<A> W_grad(a), R_grad(a);
      SumOverSteps<A> bW_grad(a), bR_grad(a);
      M dh_carry = output_h_backprop[pl];
      M dc = lstm ? output_c_backprop[pl] : M();
      for (std::size_t k = 0; k < T; ++k) {
        const std::size_t t = d == 0 ? T - 1 - k : k;
        const auto column = static_cast<Eigen::Index>(d) * H;
        const M dh_here = a.columns(l + 1 == L ? output_backprop(t) : dy[t], column, H);
        const M dh = a.carried(a.sum(dh_carry, dh_here));   // (19)
        const std::size_t before = d == 0 ? t - 1 : t + 1;  // in the order of the forward pass
        const bool is_first = k + 1 == T;
        const M& h_prev = is_first ? net.input_h[pl] : steps[before].h;
        const M* cs_prev = !lstm ? nullptr : is_first ? &net.input_c[pl] : &steps[before].lstm.cs;
        auto g = detail::rnn_step_backward(a, net.mode, steps[t], h_prev, cs_prev, dh, dc);
        dh_carry = a.carried(net.mode == BACKGAUGE_GRU ? a.add_matmul(g.h_direct, g.dr, R_weights)  // (20)
                                                       : a.matmul(g.dr, R_weights));
        if (lstm) dc = a.carried(g.cs_prev);  // (21)
        da[d][t] = held(std::move(g.da));
        const std::shared_ptr<const M> dr = net.mode == BACKGAUGE_GRU ? held(std::move(g.dr)) : da[d][t];
        if (!skip) W_grad.add(t, da[d][t], held(detail::layer_input(a, read, net, trace, l, d, t)));  // (22)
        R_grad.add(t, dr, held(h_prev));                                                              // (23)
        bW_grad.add(t, *da[d][t]);                                                                    // (24)
        bR_grad.add(t, *dr);
        if (!skip) only_left_factor(a, *da[d][t]);
        steps[t] = {};
      }
      out.input_h[pl] = dh_carry;
      if (lstm) out.input_c[pl] = dc;
      RnnWeights<M>& gradient = out.layers[pl];
      gradient.W = skip ? a.zeros(R_weights.rows(), 0) : output(a, W_grad.total());
      gradient.R = output(a, R_grad.total());
      gradient.bW = bW_grad.total();
      gradient.bR = bR_grad.total();
    }
    std::vector<M> dx(T);
    const bool own_masks = l > 0 && !net.masks.empty() && net.masks[l - 1].size() > 1;
    // Each direction apart: where it has a mask of its own, or where its gradient is saved before the sum.
    const bool apart = own_masks || (D > 1 && a.rounds_saved());
    const auto through_gates = [&](const M& gates, const M& weights) {
      if (!skip) return a.matmul(gates, weights);  // (26)
      std::vector<M> terms;                        // (25)
      for (Eigen::Index g = 0; g < gates.cols() / H; ++g) terms.push_back(a.columns(gates, g * H, H));
      return a.sum(terms);
    };
    const auto through_mask = [&](M side, std::size_t d, std::size_t t) {  // (27)
      if (l == 0 || net.masks.empty()) return side;
      return a.product(side, net.masks[l - 1][own_masks ? d : 0][t]);
    };
    const M both_weights = skip || apart ? M() : right_factor(a, detail::input_weights(a, read, D, l));
    for (std::size_t d = 0; apart && d < D; ++d) {
      const M weights = skip ? M() : right_factor(a, read.weights(l * D + d).W);
      for (std::size_t t = 0; t < T; ++t) {
        M side = through_mask(a.saved(through_gates(*da[d][t], weights)), d, t);
        dx[t] = d == 0 ? std::move(side) : a.sum(dx[t], side);
        da[d][t].reset();
      }
    }
    for (std::size_t t = 0; t < T; ++t) {
      if (!apart) {
        std::vector<const M*> sides;
        for (std::size_t d = 0; d < D; ++d) sides.push_back(da[d][t].get());
        const M all_gates = a.beside(sides);
        for (std::size_t d = 0; d < D; ++d) da[d][t].reset();
        dx[t] = through_mask(a.saved(through_gates(all_gates, both_weights)), 0, t);
      }
      dx[t] = l == 0 ? output(a, std::move(dx[t])) : a.saved(std::move(dx[t]));
    }
    if (l > 0) {
      if (!net.masks.empty()) trace.dropped[l - 1].clear();
      dy = std::move(dx);
    } else {
      out.input = std::move(dx);
    }
  }
  return out;
}

}  // namespace backgauge::equations
