// SPDX-License-Identifier: Apache-2.0
// One element of an LSTM step backward: reference/semantics.md 1.3. Accesses no memory.
#pragma once

#include "impl/cuda/device/kernel.h"

namespace backgauge::cuda {

// What steps read, [B, H] each and for all steps [T, B, H]: cs_prev is that of the first step, cs is read with
// peepholes and by the step after. The weights, with peepholes: [H].
template <class Storage>
struct LstmInputs {
  const Storage *cs_prev, *cs, *i, *f, *o, *ci, *co, *cs_grad, *h_grad, *wci, *wcf, *wco;
};

// Call: of one of the two LSTM ops.
template <class Storage, class Call>
LstmInputs<Storage> lstm_inputs(const Call& c) {
  return {c.cs_prev, c.cs, c.i, c.f, c.o, c.ci, c.co, c.cs_grad, c.h_grad, c.wci, c.wcf, c.wco};
}

// The saved values of a step, and its upstream gradients.
template <class Real>
struct CellValues {
  Real cs_prev, i, f, o, ci, co, cs_grad, h_grad;
};

template <class Real>
struct PeepholeWeights {
  Real wci, wcf, wco;
};

// Gradients with respect to the pre-activations and cs_prev.
template <class Real>
struct CellGradients {
  Real i, f, ci, o, cs_prev;
};

template <bool peephole, class Real>
BACKGAUGE_BOTH CellGradients<Real> cell_gradients(const CellValues<Real>& v, const PeepholeWeights<Real>& w) {
  const Real one = 1;
  CellGradients<Real> d;
  d.o = v.o * (one - v.o) * v.h_grad * v.co;
  Real dcs = (one - v.co * v.co) * v.h_grad * v.o + v.cs_grad;
  if constexpr (peephole) dcs += d.o * w.wco;
  d.ci = (one - v.ci * v.ci) * dcs * v.i;
  d.f = v.f * (one - v.f) * dcs * v.cs_prev;
  d.i = v.i * (one - v.i) * dcs * v.ci;
  d.cs_prev = dcs * v.f;
  if constexpr (peephole) d.cs_prev += d.i * w.wci + d.f * w.wcf;
  return d;
}

// Sums over rows of one step: of the gradients of i, f, ci, o where they are carried, of those of wci, wcf, wco with
// peepholes.
constexpr int cell_sums(bool carried, bool peephole) { return (carried ? 4 : 0) + (peephole ? 3 : 0); }

// What one element adds to them.
template <bool carried, bool peephole, class Real, int kCount>
BACKGAUGE_BOTH void cell_sum_terms(const CellGradients<Real>& d, Real cs_prev, Real cs, Real (&terms)[kCount]) {
  if constexpr (carried) {
    terms[0] = d.i;
    terms[1] = d.f;
    terms[2] = d.ci;
    terms[3] = d.o;
  }
  if constexpr (peephole) {
    constexpr int kFirst = kCount - 3;
    terms[kFirst] = d.i * cs_prev;
    terms[kFirst + 1] = d.f * cs_prev;
    terms[kFirst + 2] = d.o * cs;
  }
}

}  // namespace backgauge::cuda
