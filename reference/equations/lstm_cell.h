// SPDX-License-Identifier: Apache-2.0
// One LSTM step, forward and backward, over any arithmetic (arithmetic/arithmetic.h). Equation numbers: lstm_cell.md.
// Every matrix is [B, H]. Gates are accessed by name; their order in memory is up to the caller.
#pragma once

namespace backgauge::equations {

template <class M>
struct LstmGates {
  M i, ci, f, o;
};

// Peephole weights, repeated over the batch.
template <class M>
struct Peepholes {
  M wci, wcf, wco;
};

// The values that the forward step saves: activated gates, the (clipped) cell state and its tanh.
template <class M>
struct LstmSaved {
  M i, cs, f, o, ci, co;
};

template <class M>
struct LstmCellGradients {
  LstmGates<M> gates;  // gradients of the pre-activations
  M cs_prev;
};

// The saved tensors of a step. g: pre-activations with biases and without peephole terms. p: nullptr without peepholes.
// cell_clip: no clipping if <= 0. The caller computes h = o * co.
template <class A, class M = typename A::Matrix>
LstmSaved<M> lstm_cell_forward(const A& a, const LstmGates<M>& g, const M& cs_prev, const Peepholes<M>* p,
                               double cell_clip) {
  LstmSaved<M> s;
  s.i = a.sigmoid(p ? a.sum(g.i, a.product(cs_prev, p->wci)) : g.i);  // (1)
  s.ci = a.tanh(g.ci);                                                // (2)
  s.f = a.sigmoid(p ? a.sum(g.f, a.product(cs_prev, p->wcf)) : g.f);  // (3)
  {
    // Compilers evaluate arguments in different orders, and random rounding draws its numbers in the order of the
    // operations.
    const M remembered = a.product(s.f, cs_prev);
    s.cs = a.carried(a.clip(a.sum(a.product(s.i, s.ci), remembered), cell_clip));  // (4)
  }
  s.co = a.tanh(s.cs);                                             // (5)
  s.o = a.sigmoid(p ? a.sum(g.o, a.product(s.cs, p->wco)) : g.o);  // (6)
  return s;
}

// The gradients with respect to the pre-activations and cs_prev. cs_grad, h_grad: the gradients of the loss with
// respect to cs and h of this step, including all paths through later steps. The clip of (4) counts as the identity.
template <class A, class M = typename A::Matrix>
LstmCellGradients<M> lstm_cell_backward(const A& a, const LstmSaved<M>& s, const M& cs_prev, const M& cs_grad,
                                        const M& h_grad, const Peepholes<M>* p) {
  LstmCellGradients<M> d;
  const M do_ = a.saved(a.product(a.sigmoid_slope(s.o), h_grad, s.co));  // (8)
  const M through_co = a.product(a.tanh_slope(s.co), h_grad, s.o);
  const M dcs = p ? a.sum(through_co, cs_grad, a.product(do_, p->wco))  // (9)
                  : a.sum(through_co, cs_grad);
  d.gates.ci = a.saved(a.product(a.tanh_slope(s.ci), dcs, s.i));       // (10)
  d.gates.f = a.saved(a.product(a.sigmoid_slope(s.f), dcs, cs_prev));  // (11)
  d.gates.i = a.saved(a.product(a.sigmoid_slope(s.i), dcs, s.ci));     // (12)
  d.gates.o = do_;
  const M through_f = a.product(dcs, s.f);
  if (p) {
    const M by_f = a.product(d.gates.f, p->wcf), by_i = a.product(d.gates.i, p->wci);  // in one order
    d.cs_prev = a.sum(through_f, by_i, by_f);                                          // (13)
  } else {
    d.cs_prev = through_f;
  }
  return d;
}

}  // namespace backgauge::equations
