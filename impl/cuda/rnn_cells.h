// SPDX-License-Identifier: Apache-2.0
// One element of a step of CudnnRNN, forward and backward, for each of the four modes: reference/semantics.md 3.3, 3.4.
// Accesses no memory. A cell defines
//   kGates      the number of gates of W x + bW, and of R h + bR, in the order of params
//   kKept       values that the backward pass needs in addition to h
//   kGradients  gate gradients of a step: the first kGates are those of the recurrent side, the last kGates those of
//               the input side
//   kReadsH, kReadsHPrev  which states its backward reads; kHasState  whether it has a cell state, kept at kState
#pragma once

#include <cmath>

#include "impl/cuda/lstm_cell.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

// The gradients that enter a step backward; on return those for the previous step in time.
template <class Real>
struct RnnGradient {
  Real dh;  // of h; on return the part of that of h_prev that bypasses the gates
  Real dc;  // lstm: of cs; on return of cs_prev
};

// States: h of the step itself; lstm: cs_prev; gru: h_prev.
template <class Real>
struct RnnStates {
  Real h, h_prev, cs_prev;
};

template <class Real>
BACKGAUGE_BOTH Real sigmoid(Real v) {
  return 1 / (1 + std::exp(-v));
}

// forward: computes h from both sides of each gate. backward: computes the gate gradients from the kept values. h is -0
// where relu is closed, so that +0 has the slope 1.
struct ReluCell {
  static constexpr int kGates = 1, kKept = 0, kGradients = 1;
  static constexpr bool kReadsH = true, kReadsHPrev = false, kHasState = false;

  template <class Real>
  BACKGAUGE_BOTH static Real forward(const Real* input, const Real* recurrent, Real, Real, Real*) {
    const Real sum = input[0] + recurrent[0];
    return sum > 0 ? sum : sum < 0 ? -Real{0} : Real{0};
  }

  template <class Real>
  BACKGAUGE_BOTH static void backward(const Real*, const RnnStates<Real>& s, RnnGradient<Real>& d, Real* gates) {
    gates[0] = std::signbit(s.h) ? 0 : d.dh;
    d.dh = 0;
  }
};

struct TanhCell {
  static constexpr int kGates = 1, kKept = 0, kGradients = 1;
  static constexpr bool kReadsH = true, kReadsHPrev = false, kHasState = false;

  template <class Real>
  BACKGAUGE_BOTH static Real forward(const Real* input, const Real* recurrent, Real, Real, Real*) {
    return std::tanh(input[0] + recurrent[0]);
  }

  template <class Real>
  BACKGAUGE_BOTH static void backward(const Real*, const RnnStates<Real>& s, RnnGradient<Real>& d, Real* gates) {
    gates[0] = d.dh * (1 - s.h * s.h);
    d.dh = 0;
  }
};

// Gates i, f, n, o. Kept: the gates, then cs and its tanh.
struct LstmCell {
  static constexpr int kGates = 4, kKept = 6, kGradients = 4;
  static constexpr bool kReadsH = false, kReadsHPrev = false, kHasState = true;
  static constexpr int kState = 4;

  template <class Real>
  BACKGAUGE_BOTH static Real forward(const Real* input, const Real* recurrent, Real, Real cs_prev, Real* kept) {
    kept[0] = sigmoid(input[0] + recurrent[0]);
    kept[1] = sigmoid(input[1] + recurrent[1]);
    kept[2] = std::tanh(input[2] + recurrent[2]);
    kept[3] = sigmoid(input[3] + recurrent[3]);
    kept[kState] = kept[1] * cs_prev + kept[0] * kept[2];
    kept[5] = std::tanh(kept[kState]);
    return kept[3] * kept[5];
  }

  template <class Real>
  BACKGAUGE_BOTH static void backward(const Real* kept, const RnnStates<Real>& s, RnnGradient<Real>& d, Real* gates) {
    const CellGradients<Real> g =
        cell_gradients<false, Real>({s.cs_prev, kept[0], kept[1], kept[3], kept[2], kept[5], d.dc, d.dh}, {});
    gates[0] = g.i;
    gates[1] = g.f;
    gates[2] = g.ci;
    gates[3] = g.o;
    d = {0, g.cs_prev};
  }
};

// Gates r, z, n. Kept: the gates, then R_n h + bR_n. The gradient of n has a recurrent side, which includes the factor
// r, and an input side: they are the first and the last.
struct GruCell {
  static constexpr int kGates = 3, kKept = 4, kGradients = 4;
  static constexpr bool kReadsH = false, kReadsHPrev = true, kHasState = false;

  template <class Real>
  BACKGAUGE_BOTH static Real forward(const Real* input, const Real* recurrent, Real h_prev, Real, Real* kept) {
    const Real r = sigmoid(input[0] + recurrent[0]), z = sigmoid(input[1] + recurrent[1]);
    const Real n = std::tanh(input[2] + r * recurrent[2]);
    kept[0] = r;
    kept[1] = z;
    kept[2] = n;
    kept[3] = recurrent[2];
    return (1 - z) * n + z * h_prev;
  }

  template <class Real>
  BACKGAUGE_BOTH static void backward(const Real* kept, const RnnStates<Real>& s, RnnGradient<Real>& d, Real* gates) {
    const Real r = kept[0], z = kept[1], n = kept[2];
    const Real dn = d.dh * (1 - z) * (1 - n * n);
    gates[0] = dn * r;
    gates[1] = dn * kept[3] * r * (1 - r);
    gates[2] = d.dh * (s.h_prev - n) * z * (1 - z);
    gates[3] = dn;
    d.dh = d.dh * z;
  }
};

// body: called with the cell of a mode.
template <class Body>
void with_cell(std::int32_t rnn_mode, Body body) {
  switch (rnn_mode) {
    case BACKGAUGE_RNN_RELU: return body(ReluCell{});
    case BACKGAUGE_RNN_TANH: return body(TanhCell{});
    case BACKGAUGE_LSTM: return body(LstmCell{});
    default: return body(GruCell{});
  }
}

}  // namespace backgauge::cuda
