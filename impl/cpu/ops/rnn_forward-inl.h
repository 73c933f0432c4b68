// SPDX-License-Identifier: Apache-2.0
// The pointwise part of one step of one panel of columns, for each kind of cell of CudnnRNN: computes the state after
// the step, and what the backward pass reads, from both sides of the gates. reference/semantics.md 3.3.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_RNN_FORWARD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_RNN_FORWARD_INL_H
#undef BACKGAUGE_CPU_RNN_FORWARD_INL_H
#else
#define BACKGAUGE_CPU_RNN_FORWARD_INL_H
#endif
// clang-format on

#include "impl/cpu/ops/activations-inl.h"
#include "impl/cpu/ops/rnn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Pointers to row 0 and column 0. h and h_prev are in panels, h_panel elements apart; rows of y are y_row elements
// apart; all others are dense.
template <class T>
struct RnnForwardStep {
  std::int64_t rows, columns, h_panel, y_row;
  const T *h_prev, *cs_prev;
  T *h, *y, *cs, *co, *hn;
  T* gates;  // W x of all gates; an LSTM and a GRU overwrite it with the gates
};

// One panel. The biases of both sides are summed, except for the candidate of a GRU, which has that of its input side,
// followed by that of its recurrent side.
template <class T>
struct RnnForwardSums {
  const T* recurrent;  // R h: [gate][row][column]
  const T* bias;       // [gate][column]
};

// Some columns of a row.
template <bool kPart, class T>
struct RnnForwardLanes {
  static constexpr std::int64_t P = kPanel<T>;

  LiveLanes<kPart, T> live;
  T* gates;  // gate_row apart
  std::int64_t gate_row;
  const T* recurrent_sums;  // recurrent_row apart
  std::int64_t recurrent_row;
  const T* biases;
  std::int64_t dense, in_panel;  // offsets in [rows, columns], and in panels

  HWY_INLINE Vector<T> bias(std::int64_t gate) const { return load(Tag<T>(), biases + gate * P); }
  HWY_INLINE Vector<T> input(std::int64_t gate) const {
    return hn::Add(live.load(gates + gate * gate_row), bias(gate));
  }
  HWY_INLINE Vector<T> recurrent(std::int64_t gate) const {
    return load(Tag<T>(), recurrent_sums + gate * recurrent_row);
  }
  HWY_INLINE Vector<T> both(std::int64_t gate) const { return hn::Add(input(gate), recurrent(gate)); }
  HWY_INLINE void keep(std::int64_t gate, Vector<T> value) const { live.store(value, gates + gate * gate_row); }
};

// Computes h = cell(lanes) for all rows and vectors of a panel.
template <bool kPart, int kGates, class T, class Cell>
HWY_INLINE void forward_panel(const RnnForwardStep<T>& step, const RnnForwardSums<T>& sums, std::int64_t panel,
                              Cell cell) {
  const RnnForwardStep<T> s = step;
  const T *const recurrent = sums.recurrent, *const bias = sums.bias;
  for_panel<kPart>(s, panel, [=](std::int64_t row, std::int64_t column, std::int64_t lane, auto live) HWY_ATTR {
    constexpr std::int64_t P = kPanel<T>;
    const std::int64_t in_panel = panel * s.h_panel + row * P + lane;
    const Vector<T> h = cell(RnnForwardLanes<kPart, T>{live, s.gates + row * kGates * s.columns + column, s.columns,
                                                       recurrent + row * P + lane, s.rows * P, bias + lane,
                                                       row * s.columns + column, in_panel});
    store(Tag<T>(), h, s.h + in_panel);
    live.store(h, s.y + row * s.y_row + column);
  });
}

// -0 where it is closed: rnn_trace.h.
template <bool kPart, class T>
void forward_relu(const RnnForwardStep<T>& s, const RnnForwardSums<T>& sums, std::int64_t panel) {
  forward_panel<kPart, 1>(s, sums, panel, [](const auto& lanes) HWY_ATTR {
    const Tag<T> d;
    const Vector<T> v = lanes.both(0), zero = hn::Zero(d);
    return hn::IfThenElse(hn::Gt(v, zero), v, hn::IfThenElseZero(hn::Lt(v, zero), hn::Set(d, T(-0.0))));
  });
}

template <bool kPart, class T>
void forward_tanh(const RnnForwardStep<T>& s, const RnnForwardSums<T>& sums, std::int64_t panel) {
  forward_panel<kPart, 1>(s, sums, panel, [](const auto& lanes) HWY_ATTR { return tanh(Tag<T>(), lanes.both(0)); });
}

template <bool kPart, class T>
void forward_lstm(const RnnForwardStep<T>& s, const RnnForwardSums<T>& sums, std::int64_t panel) {
  const T* const cs_prev = s.cs_prev;
  T *const cs = s.cs, *const co = s.co;
  forward_panel<kPart, 4>(s, sums, panel, [=](const auto& lanes) HWY_ATTR {
    const Tag<T> d;
    const Vector<T> i = sigmoid(d, lanes.both(0)), f = sigmoid(d, lanes.both(1)), candidate = tanh(d, lanes.both(2)),
                    o = sigmoid(d, lanes.both(3));
    const Vector<T> c = hn::MulAdd(i, candidate, hn::Mul(f, lanes.live.load(cs_prev + lanes.dense)));
    const Vector<T> tanh_c = tanh(d, c);
    lanes.keep(0, i);
    lanes.keep(1, f);
    lanes.keep(2, candidate);
    lanes.keep(3, o);
    lanes.live.store(c, cs + lanes.dense);
    lanes.live.store(tanh_c, co + lanes.dense);
    return hn::Mul(o, tanh_c);
  });
}

template <bool kPart, class T>
void forward_gru(const RnnForwardStep<T>& s, const RnnForwardSums<T>& sums, std::int64_t panel) {
  const T* const h_prev = s.h_prev;
  T* const kept = s.hn;
  forward_panel<kPart, 3>(s, sums, panel, [=](const auto& lanes) HWY_ATTR {
    const Tag<T> d;
    const Vector<T> r = sigmoid(d, lanes.both(0)), z = sigmoid(d, lanes.both(1));
    const Vector<T> side = hn::Add(lanes.recurrent(2), lanes.bias(3));
    const Vector<T> candidate = tanh(d, hn::MulAdd(r, side, lanes.input(2)));
    lanes.keep(0, r);
    lanes.keep(1, z);
    lanes.keep(2, candidate);
    lanes.live.store(side, kept + lanes.dense);
    return hn::MulAdd(z, load(d, h_prev + lanes.in_panel), hn::Mul(hn::Sub(hn::Set(d, 1), z), candidate));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
