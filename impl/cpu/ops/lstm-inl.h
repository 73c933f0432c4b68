// SPDX-License-Identifier: Apache-2.0
// Gate gradients of an LSTM, a vector of them at a time. Formulas: reference/semantics.md 1.3.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_LSTM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_LSTM_INL_H
#undef BACKGAUGE_CPU_LSTM_INL_H
#else
#define BACKGAUGE_CPU_LSTM_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// v (1 - v), where 1 - v is exact for v >= 1/2, and 1 - v v.
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

// Gate values are those after the activation; dcs and dh include the gradients carried from later steps. The weights
// are read only with peepholes.
template <bool kPeephole, class V>
HWY_INLINE LstmGradients<V> lstm_gradients(V cs_prev, V i, V f, V o, V ci, V co, V dcs, V dh, V wci, V wcf, V wco) {
  const V d_o = hn::Mul(hn::Mul(slope_of_sigmoid(o), dh), co);
  V dc = hn::MulAdd(hn::Mul(slope_of_tanh(co), dh), o, dcs);
  if constexpr (kPeephole) dc = hn::MulAdd(d_o, wco, dc);
  const V d_ci = hn::Mul(hn::Mul(slope_of_tanh(ci), dc), i);
  const V d_f = hn::Mul(hn::Mul(slope_of_sigmoid(f), dc), cs_prev);
  const V d_i = hn::Mul(hn::Mul(slope_of_sigmoid(i), dc), ci);
  V d_cs_prev = hn::Mul(dc, f);
  if constexpr (kPeephole) d_cs_prev = hn::MulAdd(d_f, wcf, hn::MulAdd(d_i, wci, d_cs_prev));
  return {d_i, d_ci, d_f, d_o, d_cs_prev};
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
