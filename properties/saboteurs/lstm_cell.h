// SPDX-License-Identifier: Apache-2.0
// One element of one LSTM step, backward: reference/semantics.md 1.3, and the LSTM of 3.4. Also the faults of group A,
// for all three ops.
#pragma once

#include "properties/saboteurs/slopes.h"
#include "properties/saboteurs/work.h"

namespace backgauge::saboteurs {

template <class Real>
struct Peepholes {
  Real wci, wcf, wco;
};

// Gate values are those after the activation; cs_grad and h_grad include the gradients carried from later steps.
template <class Real>
struct LstmElement {
  Real cs_prev, cs, i, f, o, ci, co, cs_grad, h_grad;
};

template <class Real>
struct LstmGradient {
  Real i, ci, f, o, cs_prev;
};

// The saved values as a variant with a fault reads them, before anything is computed from them.
template <class Real>
LstmElement<Real> misread(const Work<Real>& w, LstmElement<Real> e) {
  if (w.is(Fault::kA9)) std::swap(e.i, e.f);
  if (w.is(Fault::kA11)) std::swap(e.i, e.o);
  if (w.is(Fault::kA16)) e.o = w.sigmoid(e.o);
  if (w.is(Fault::kA24)) e.f = w.sigmoid(std::log(e.f / (1 - e.f)) + 1);
  if (w.is(Fault::kA25) || w.style().declared.recomputes_co) e.co = w.tanh(e.cs);
  if (w.is(Fault::kJ5)) e.f += 16 * e.f * std::numeric_limits<Real>::epsilon();
  if (w.is(Fault::kJ10) && w.half() && std::fabs(16 * e.h_grad) > 65504) {
    e.h_grad = std::copysign(std::numeric_limits<Real>::infinity(), e.h_grad);
  }
  return e;
}

// peepholes: nullptr if the cell has none; wci, wcf and wco may then be NaN and must not be read.
template <class Real>
LstmGradient<Real> lstm_cell_backward(const Work<Real>& w, const LstmElement<Real>& saved,
                                      const Peepholes<Real>* peepholes) {
  const LstmElement<Real> e = misread(w, saved);
  const bool slope_last = w.style().through_slope != ThroughSlope::kSlope;
  const auto gate = [&](Site product, Site slope, Real s, Real a, Real b) {
    if (slope_last) return through_sigmoid(w, w.product(Site::kNone, {a, b}), s);
    return w.product(product, {w.sigmoid_slope(slope, s), a, b});
  };
  const auto candidate = [&](Site product, Real slope, Real t, Real a, Real b) {
    if (slope_last) return through_tanh(w, w.product(Site::kNone, {a, b}), t);
    return w.product(product, {slope, a, b});
  };
  LstmGradient<Real> d;
  d.o = gate(Site::k_do_, Site::k_o_slope, e.o, e.h_grad, e.co);

  Real co_slope = w.tanh_slope(Site::k_co_slope, e.co);
  if (w.is(Fault::kA15)) co_slope = 1 - std::tanh(e.co) * std::tanh(e.co);
  if (w.is(Fault::kA17)) co_slope = 1 - e.co;
  const Real through_co = candidate(Site::k_through_co, co_slope, e.co, e.h_grad, e.o);
  Real dcs = w.sum(Site::k_dcs, {through_co, e.cs_grad});
  const Real dcs_before_o = dcs;
  // The peephole of o reads the new cs, those of i and f the old one.
  if (peepholes != nullptr && !w.is(Fault::kA3)) {
    dcs = w.rounded(dcs + w.product(Site::k_dcs_peephole, {d.o, peepholes->wco}));
  }
  if (w.is(Fault::kA23) && std::fabs(e.cs) >= 1) dcs = 0;
  if (w.is(Fault::kA23b) && std::fabs(e.cs) >= 3) dcs = 0;

  Real ci_slope = w.tanh_slope(Site::k_ci_slope, e.ci);
  if (w.is(Fault::kA14)) ci_slope = 1 - std::tanh(e.ci) * std::tanh(e.ci);
  if (w.is(Fault::kA17b)) ci_slope = e.ci * (1 - e.ci);
  d.ci = candidate(Site::k_dci, ci_slope, e.ci, dcs, w.is(Fault::kA19b) ? 1 : e.i);
  const Real cs_prev = w.is(Fault::kA20) ? e.cs : e.cs_prev;
  d.f = gate(Site::k_df, Site::k_f_slope, e.f, dcs, cs_prev);
  d.i = gate(Site::k_di, Site::k_i_slope, e.i, dcs, w.is(Fault::kA19) ? 1 : e.ci);

  const Real dcs_used = w.is(Fault::kA5) ? dcs_before_o : dcs;
  d.cs_prev = w.product(Site::k_dcs_prev, {dcs_used, w.is(Fault::kA21) ? 1 : e.f});
  if (peepholes != nullptr && !w.is(Fault::kA2)) {
    const Real times = w.is(Fault::kA1) ? 2 : 1;
    d.cs_prev = w.rounded(d.cs_prev + times * w.product(Site::k_di_wci, {d.i, peepholes->wci}));
    d.cs_prev = w.rounded(d.cs_prev + times * w.product(Site::k_df_wcf, {d.f, peepholes->wcf}));
  }
  return d;
}

}  // namespace backgauge::saboteurs
