// SPDX-License-Identifier: Apache-2.0
// One LSTM step backward, reference/semantics.md 1.3: a pass over memory for every line of it.
#pragma once

#include "impl/eigen/arrays.h"

namespace backgauge::eigen::BACKGAUGE_EIGEN_SET {

// Gradients of the gates, [B, H] each. They keep their memory from step to step.
template <class Storage>
struct CellGradients {
  Array<Scalar<Storage>> o, cs, ci, f, i;

  // All tensors [B, H], the peephole weights [H] and read with peepholes only; cs_grad and h_grad are all that arrives.
  struct Step {
    Index B, H;
    const Storage *cs_prev, *i, *f, *o, *ci, *co, *wci, *wcf, *wco;
    bool peephole;
  };
  template <class Arrived>
  void compute(const Step& s, const Arrived& cs_grad, const Arrived& h_grad) {
    const Scalar<Storage> one(1.0f);
    const auto gate_i = array(s.i, s.B, s.H), gate_f = array(s.f, s.B, s.H), gate_o = array(s.o, s.B, s.H);
    const auto gate_ci = array(s.ci, s.B, s.H), gate_co = array(s.co, s.B, s.H), cs_prev = array(s.cs_prev, s.B, s.H);
    o = gate_o * (one - gate_o) * h_grad * gate_co;
    cs = (one - gate_co * gate_co) * h_grad * gate_o + cs_grad;
    if (s.peephole) cs += o.rowwise() * row(s.wco, s.H);
    ci = (one - gate_ci * gate_ci) * cs * gate_i;
    f = gate_f * (one - gate_f) * cs * cs_prev;
    i = gate_i * (one - gate_i) * cs * gate_ci;
  }

  // With respect to cs_prev, into an array that may have been cs_grad.
  template <class Out>
  void to_cs_prev(const Step& s, Out&& cs_prev_grad) const {
    cs_prev_grad = cs * array(s.f, s.B, s.H);
    if (s.peephole) {
      cs_prev_grad += i.rowwise() * row(s.wci, s.H);
      cs_prev_grad += f.rowwise() * row(s.wcf, s.H);
    }
  }
};

}  // namespace backgauge::eigen::BACKGAUGE_EIGEN_SET
