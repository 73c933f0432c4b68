// SPDX-License-Identifier: Apache-2.0
// One element of one LSTM step, backward. reference/semantics.md 1.3; without peepholes it is also the LSTM of 3.4.
#pragma once

namespace backgauge::plain {

template <class Real>
struct Peepholes {
  Real wci, wcf, wco;
};

// Gate values are those after the activation; cs_grad and h_grad include the gradients carried from later steps.
template <class Real>
struct LstmElement {
  Real cs_prev, i, f, o, ci, co, cs_grad, h_grad;
};

// Gradients with respect to the pre-activations of the gates and to cs_prev.
template <class Real>
struct LstmGradient {
  Real i, ci, f, o, cs_prev;
};

// peepholes: nullptr if the cell has none; wci, wcf and wco may then be NaN and must not be read.
template <class Real>
LstmGradient<Real> lstm_cell_backward(const LstmElement<Real>& e, const Peepholes<Real>* peepholes) {
  LstmGradient<Real> d;
  d.o = e.o * (1 - e.o) * e.h_grad * e.co;
  Real dcs = (1 - e.co * e.co) * e.h_grad * e.o + e.cs_grad;
  if (peepholes != nullptr) dcs += d.o * peepholes->wco;  // o reads the new cs; i and f the old one
  d.ci = (1 - e.ci * e.ci) * dcs * e.i;
  d.f = e.f * (1 - e.f) * dcs * e.cs_prev;
  d.i = e.i * (1 - e.i) * dcs * e.ci;
  d.cs_prev = dcs * e.f;
  if (peepholes != nullptr) d.cs_prev += d.i * peepholes->wci + d.f * peepholes->wcf;
  return d;
}

}  // namespace backgauge::plain
