// SPDX-License-Identifier: Apache-2.0
// One step of a pseudo-layer, one direction of one layer, in the four modes, forward and backward, over any arithmetic.
// Equation numbers: cudnn_rnn.md. The weights of the G gates are stacked row-wise, as in params.
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

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
struct RnnStep {  // the values of one step of one pseudo-layer that the backward pass needs
  M h;            // [B, H]
  M p;            // relu: the pre-activation
  LstmSaved<M> lstm;
  M r, z, n, hn;  // gru; hn = R_n h_prev + bR_n
};

namespace detail {

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
RnnStepWeights<M> step_weights(const A& a, backgauge_rnn_mode mode, const RnnWeights<M>& layer, bool skip) {
  const auto H = layer.R.cols(), G = layer.R.rows() / H;
  const M Rt = a.transpose(layer.R);
  const auto input_side = [&](Eigen::Index first, Eigen::Index count) {
    return a.transpose(a.rows(layer.W, first * H, count * H));
  };
  const auto of_gates = [&](const M& x, Eigen::Index first, Eigen::Index count) {
    return a.columns(x, first * H, count * H);
  };
  const bool gru = mode == BACKGAUGE_GRU;
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

}  // namespace detail
}  // namespace backgauge::equations
