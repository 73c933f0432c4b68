// SPDX-License-Identifier: Apache-2.0
// The pointwise part of one step of one panel of columns, for each kind of cell of CudnnRNNBackprop: computes the
// gradients of the gates and their sums from the gradients of the state after the step. reference/semantics.md 3.4.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_RNN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_RNN_INL_H
#undef BACKGAUGE_CPU_RNN_INL_H
#else
#define BACKGAUGE_CPU_RNN_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/prefetch_queue.h"
#include "impl/cpu/ops/lstm-inl.h"
#include "reference/contract/backgauge.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Pointers to row 0 and column 0. Rows of h_prev are h_row elements apart, those of y and dy y_row, all others dense.
template <class T>
struct RnnStep {
  std::int64_t rows, columns, h_row, y_row;
  const T *h_prev, *cs_prev, *gates, *y, *co, *hn, *dy;
  T* out;  // gate gradients, in panels
  std::int64_t out_panel, out_gate;
};

// Prefetches what the cell of the mode reads and writes in a panel.
template <class T>
HWY_INLINE PrefetchQueue rnn_reads(std::int32_t mode, const RnnStep<T>& s, std::int64_t panel) {
  const std::int64_t column = panel * kPanel<T>;
  PrefetchQueue queue(s.rows, kPanel<T> * sizeof(T));
  const auto gates = [&](std::int64_t kept, std::int64_t written) HWY_ATTR {
    for (std::int64_t gate = 0; gate < kept; ++gate) {
      queue.add(s.gates + gate * s.columns + column, kept * s.columns);
    }
    for (std::int64_t gate = 0; gate < written; ++gate) {
      queue.add(s.out + gate * s.out_gate + panel * s.out_panel, kPanel<T>);
    }
  };
  queue.add(s.dy + column, s.y_row);
  switch (mode) {
    case BACKGAUGE_LSTM:
      queue.add(s.cs_prev + column, s.columns);
      queue.add(s.co + column, s.columns);
      gates(4, 4);
      break;
    case BACKGAUGE_GRU:
      queue.add(s.h_prev + column, s.h_row);
      queue.add(s.hn + column, s.columns);
      gates(3, 4);
      break;
    default: queue.add(s.y + column, s.y_row); gates(0, 1);
  }
  return queue;
}

// The number of lanes that are columns: the other lanes load 0, and store nothing.
template <bool kPart, class T>
struct LiveLanes {
  std::int64_t count;

  HWY_INLINE Vector<T> load(const T* from) const { return load_live<kPart>(Tag<T>(), from, count); }
  HWY_INLINE void store(Vector<T> value, T* to) const { store_live<kPart>(Tag<T>(), value, to, count); }
};

// Calls body(row, column, lane, live) for every row and vector of a panel. Step: has the number of rows and columns.
template <bool kPart, template <class> class Step, class T, class Body>
HWY_INLINE void for_panel(const Step<T>& s, std::int64_t panel, Body body) {
  for (std::int64_t row = 0; row < s.rows; ++row) {
    for (std::int64_t lane = 0; lane < kPanel<T>; lane += kLanes<T>) {
      const std::int64_t column = panel * kPanel<T> + lane;
      body(row, column, lane, LiveLanes<kPart, T>{std::clamp(s.columns - column, std::int64_t{0}, kLanes<T>)});
    }
  }
}

// Stores a gate gradient, and adds it to the sum of its column.
template <class T>
HWY_INLINE void put(Vector<T> value, T* out, T* sum) {
  const Tag<T> d;
  store(d, value, out);
  store(d, hn::Add(load(d, sum), value), sum);
}

template <bool kPart, class T>
void rnn_relu(const RnnStep<T>& step, std::int64_t panel, T* dh, T* sums) {
  const RnnStep<T> s = step;
  const Tag<T> d;
  for_panel<kPart>(s, panel, [=](std::int64_t row, std::int64_t column, std::int64_t lane, auto live) HWY_ATTR {
    const std::int64_t at = row * kPanel<T> + lane;
    const Vector<T> y = live.load(s.y + row * s.y_row + column), dy = live.load(s.dy + row * s.y_row + column);
    // -0 is closed. Compared as integers, since not every target of Highway takes -0 for negative.
    const hn::RebindToSigned<Tag<T>> bits;
    const auto closed = hn::RebindMask(d, hn::Lt(hn::BitCast(bits, y), hn::Zero(bits)));
    const Vector<T> da = hn::IfThenZeroElse(closed, hn::Add(load(d, dh + at), dy));
    put(da, s.out + panel * s.out_panel + at, sums + lane);
  });
}

template <bool kPart, class T>
void rnn_tanh(const RnnStep<T>& step, std::int64_t panel, T* dh, T* sums) {
  const RnnStep<T> s = step;
  const Tag<T> d;
  for_panel<kPart>(s, panel, [=](std::int64_t row, std::int64_t column, std::int64_t lane, auto live) HWY_ATTR {
    const std::int64_t at = row * kPanel<T> + lane;
    const Vector<T> y = live.load(s.y + row * s.y_row + column), dy = live.load(s.dy + row * s.y_row + column);
    put(hn::Mul(hn::Add(load(d, dh + at), dy), slope_of_tanh(y)), s.out + panel * s.out_panel + at, sums + lane);
  });
}

template <bool kPart, class T>
void rnn_lstm(const RnnStep<T>& step, std::int64_t panel, T* dh, T* dc, T* sums) {
  const RnnStep<T> s = step;
  const Tag<T> d;
  for_panel<kPart>(s, panel, [=](std::int64_t row, std::int64_t column, std::int64_t lane, auto live) HWY_ATTR {
    const std::int64_t at = row * kPanel<T> + lane, H = s.columns, P = kPanel<T>;
    const T *gates = s.gates + row * 4 * H + column, *dy = s.dy + row * s.y_row + column;
    const Vector<T> none = hn::Zero(d);
    const LstmGradients<Vector<T>> g =
        lstm_gradients<false>(live.load(s.cs_prev + row * H + column), live.load(gates), live.load(gates + H),
                              live.load(gates + 3 * H), live.load(gates + 2 * H), live.load(s.co + row * H + column),
                              load(d, dc + at), hn::Add(load(d, dh + at), live.load(dy)), none, none, none);
    store(d, g.cs_prev, dc + at);
    T* const out = s.out + panel * s.out_panel + at;
    put(g.i, out, sums + lane);
    put(g.f, out + s.out_gate, sums + P + lane);
    put(g.ci, out + 2 * s.out_gate, sums + 2 * P + lane);
    put(g.o, out + 3 * s.out_gate, sums + 3 * P + lane);
  });
}

// Order of the gates: the recurrent side of the candidate, r, z, the input side of the candidate. Leaves the direct
// term in dh.
template <bool kPart, class T>
void rnn_gru(const RnnStep<T>& step, std::int64_t panel, T* dh, T* sums) {
  const RnnStep<T> s = step;
  const Tag<T> d;
  for_panel<kPart>(s, panel, [=](std::int64_t row, std::int64_t column, std::int64_t lane, auto live) HWY_ATTR {
    const std::int64_t at = row * kPanel<T> + lane, H = s.columns, P = kPanel<T>;
    const T* gates = s.gates + row * 3 * H + column;
    const Vector<T> one = hn::Set(d, 1), r = live.load(gates), z = live.load(gates + H),
                    candidate = live.load(gates + 2 * H);
    const Vector<T> dh_now = hn::Add(load(d, dh + at), live.load(s.dy + row * s.y_row + column));
    const Vector<T> dn = hn::Mul(hn::Mul(dh_now, hn::Sub(one, z)), slope_of_tanh(candidate));
    const Vector<T> dz =
        hn::Mul(hn::Mul(dh_now, hn::Sub(live.load(s.h_prev + row * s.h_row + column), candidate)), slope_of_sigmoid(z));
    const Vector<T> dr = hn::Mul(hn::Mul(dn, live.load(s.hn + row * H + column)), slope_of_sigmoid(r));
    T* const out = s.out + panel * s.out_panel + at;
    put(hn::Mul(dn, r), out, sums + lane);  // the candidate contains r times R_n h + bR_n
    put(dr, out + s.out_gate, sums + P + lane);
    put(dz, out + 2 * s.out_gate, sums + 2 * P + lane);
    put(dn, out + 3 * s.out_gate, sums + 3 * P + lane);
    store(d, hn::Mul(dh_now, z), dh + at);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
