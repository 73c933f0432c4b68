// SPDX-License-Identifier: Apache-2.0
// Gate gradients of an LSTM, a vector of them at a time. Formulas: reference/semantics.md 1.3.
#include "impl/cpu/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_LSTM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_LSTM_INL_H
#undef BACKGAUGE_CPU_LSTM_INL_H
#else
#define BACKGAUGE_CPU_LSTM_INL_H
#endif
// clang-format on

#include "impl/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// v (1 - v), where 1 - v is exact from 1/2 on, and 1 - v v.
template <class V>
HWY_INLINE V slope_of_sigmoid(V v) {
  return hn::Mul(v, hn::Sub(hn::Set(hn::DFromV<V>(), 1), v));
}
template <class V>
HWY_INLINE V slope_of_tanh(V v) {
  return hn::NegMulAdd(v, v, hn::Set(hn::DFromV<V>(), 1));
}

template <class V>
struct LstmGradients {
  V i, ci, f, o, cs_prev;
};

// Gate values are those after the activation; dcs and dh include what later steps handed back. The weights are read
// with peepholes only.
template <bool kPeephole, class V>
HWY_INLINE LstmGradients<V> lstm_gradients(V cs_prev, V i, V f, V o, V ci, V co, V dcs, V dh, V wci, V wcf, V wco) {
  LstmGradients<V> d;
  d.o = hn::Mul(hn::Mul(slope_of_sigmoid(o), dh), co);
  V dc = hn::MulAdd(hn::Mul(slope_of_tanh(co), dh), o, dcs);
  if constexpr (kPeephole) dc = hn::MulAdd(d.o, wco, dc);
  d.ci = hn::Mul(hn::Mul(slope_of_tanh(ci), dc), i);
  d.f = hn::Mul(hn::Mul(slope_of_sigmoid(f), dc), cs_prev);
  d.i = hn::Mul(hn::Mul(slope_of_sigmoid(i), dc), ci);
  d.cs_prev = hn::Mul(dc, f);
  if constexpr (kPeephole) d.cs_prev = hn::MulAdd(d.f, wcf, hn::MulAdd(d.i, wci, d.cs_prev));
  return d;
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
