// SPDX-License-Identifier: Apache-2.0
// One element of one step of rnn_relu, rnn_tanh and gru, backward (reference/semantics.md 3.4), and one step of one
// example of all modes, forward (3.3). Also the faults of groups E and F that change one element.
#pragma once

#include <algorithm>

#include "properties/saboteurs/rnn_net.h"
#include "properties/saboteurs/slopes.h"
#include "properties/saboteurs/work.h"

namespace backgauge::saboteurs {

// The slope of tanh from t = tanh(a), correct or with a fault.
template <class Real>
Real tanh_slope_of_state(const Work<Real>& w, Site site, Real t) {
  if (w.is(Fault::kF4)) {
    const Real a = std::atanh(t);
    return 1 - a * a;
  }
  if (w.is(Fault::kA26)) {
    const Real e = w.to_half(std::exp(2 * std::atanh(t)));
    return 4 * e / ((e + 1) * (e + 1));
  }
  return w.tanh_slope(site, t);
}

template <class Real>
Real tanh_backward(const Work<Real>& w, Real h, Real dh) {
  if (w.style().through_slope != ThroughSlope::kSlope) return through_tanh(w, dh, h);
  return w.product(Site::k_tanh_da, {dh, tanh_slope_of_state(w, Site::k_tanh_slope, h)});
}

// mask: the output of the unit; the gradient passes where it is positive.
template <class Real>
Real relu_backward(const Work<Real>& w, Real mask, Real dh) {
  // The forward gives -0 where the unit is closed, so that the output of one at the kink is known by its sign.
  if (w.style().declared.relu_slope_at_zero && mask == 0) {
    return std::signbit(mask) || w.is(Fault::kF8) ? Real(0) : dh;
  }
  const bool open = w.is(Fault::kF2) ? mask >= 0 : w.is(Fault::kF6) ? mask > 0 && mask < 1 : mask > 0;
  return open ? w.product(Site::k_relu_da, {dh, 1}) : Real(0);
}

template <class Real>
struct GruElement {
  Real r, z, n, hn, h, h_prev;  // hn = R_n h_prev + bR_n
};

template <class Real>
struct GruGradient {
  Real r, z, n, hn;  // gradients of pre-activations; n: of W_n x + bW_n, hn: of R_n h_prev + bR_n
  Real h_prev;       // the part of the gradient of h_prev that does not pass through the gates
};

// The same gradients as gru_backward, in the forms of slopes.h.
template <class Real>
GruGradient<Real> gru_backward_expanded(const Work<Real>& w, const GruElement<Real>& e, Real dh) {
  const Style& style = w.style();
  const bool slope_last = style.through_slope != ThroughSlope::kSlope;
  const auto gate = [&](Real g, Real s) {
    return slope_last ? through_sigmoid(w, g, s) : w.rounded(g * w.sigmoid_slope(Site::kNone, s));
  };
  const Real fresh =
      style.blend == Blend::kWeighted ? w.rounded(dh * w.rounded(1 - e.z)) : w.rounded(dh - w.rounded(dh * e.z));
  const Real moved = style.blend == Blend::kMultipliedOut ? multiplied_out(w, dh, e.h_prev, e.n)
                                                          : w.rounded(dh * w.rounded(e.h_prev - e.n));
  GruGradient<Real> d;
  d.n = slope_last ? through_tanh(w, fresh, e.n) : w.rounded(fresh * w.tanh_slope(Site::kNone, e.n));
  d.z = gate(moved, e.z);
  d.r = gate(w.rounded(d.n * e.hn), e.r);
  d.hn = w.rounded(d.n * e.r);
  d.h_prev = w.rounded(dh * e.z);
  return d;
}

template <class Real>
GruGradient<Real> gru_backward(const Work<Real>& w, const GruElement<Real>& e, Real dh) {
  if (w.style().through_slope != ThroughSlope::kSlope || w.style().blend != Blend::kWeighted) {
    return gru_backward_expanded(w, e, dh);
  }
  GruGradient<Real> d;
  const Real one_minus_z = w.is(Fault::kE9) ? e.z : w.sum(Site::k_one_minus_z, {1, -e.z});
  const Real n_slope = w.is(Fault::kE13) ? 1 - e.n : tanh_slope_of_state(w, Site::k_n_slope, e.n);
  d.n = w.product(Site::k_dn, {dh, one_minus_z, n_slope});

  Real h_minus_n = w.sum(Site::k_h_minus_n, {w.is(Fault::kE12) ? e.h : e.h_prev, -e.n});
  if (w.is(Fault::kE12b)) h_minus_n = -e.n;
  if (w.is(Fault::kE12c)) h_minus_n = -h_minus_n;
  d.z = w.product(Site::k_dz, {dh, h_minus_n, w.sigmoid_slope(Site::k_z_slope, w.is(Fault::kE13b) ? e.r : e.z)});

  const Real dn_for_r = w.is(Fault::kE1) ? dh * one_minus_z : d.n;
  d.r = w.product(Site::k_dr, {dn_for_r, e.hn, w.sigmoid_slope(Site::k_r_slope, e.r)});
  d.hn = w.product(Site::k_dn_r, {d.n, e.r});
  d.h_prev = w.product(Site::k_h_direct, {dh, w.is(Fault::kE9) ? 1 - e.z : e.z});
  if (w.is(Fault::kE11)) d.h_prev = 0;
  return d;
}

// The forward pass of one pseudo-layer.
template <class Real>
class RnnCell {
 public:
  RnnCell(const Work<Real>& work, const RnnNet& net, const std::vector<Real>& params, std::int64_t layer,
          std::int64_t direction)
      : w(work), net_(net), params_(params), layer_(layer), direction_(direction) {}

  // One step of one example: x [width], h_prev [H]. cs [H] (lstm) is updated, record(row) [H] filled.
  template <class Record>
  void step(const Real* x, const Real* h_prev, Real* cs, Record record) const {
    Real* h = record(net_.h_row());
    for (std::int64_t j = 0; j < net_.H; ++j) {
      switch (net_.mode) {
        case BACKGAUGE_RNN_RELU: h[j] = w.carried(relu(both_sides(x, h_prev, 0, j))); break;
        case BACKGAUGE_RNN_TANH: h[j] = w.carried(tanh(both_sides(x, h_prev, 0, j))); break;
        case BACKGAUGE_LSTM: {
          const Real i = sigmoid(both_sides(x, h_prev, 0, j)), f = sigmoid(both_sides(x, h_prev, 1, j));
          const Real n = tanh(both_sides(x, h_prev, 2, j)), o = sigmoid(both_sides(x, h_prev, 3, j));
          const Real kept = w.product(Site::k_f_cs, {f, cs[j]}), added = w.product(Site::k_i_n, {i, n});
          cs[j] = w.carried(w.sum(Site::k_new_cs, {kept, added}));
          const Real co = tanh(cs[j]);
          h[j] = w.carried(w.product(Site::k_new_h, {o, co}));
          record(0)[j] = w.saved(i);
          record(1)[j] = w.saved(f);
          record(2)[j] = w.saved(n);
          record(3)[j] = w.saved(o);
          record(net_.cs_row())[j] = cs[j];
          record(net_.co_row())[j] = w.saved(co);
          break;
        }
        case BACKGAUGE_GRU: {
          const Real r = sigmoid(both_sides(x, h_prev, 0, j)), z = sigmoid(both_sides(x, h_prev, 1, j));
          const Real hn = recurrent_side(h_prev, j, true);
          const Real n = tanh(w.sum(Site::k_n_sum, {input_side(x, j), w.product(Site::k_r_hn, {r, hn})}));
          if (w.style().blend == Blend::kInterpolated) {
            h[j] = w.carried(w.rounded(n + w.rounded(z * w.rounded(h_prev[j] - n))));
          } else {
            h[j] = w.carried(weighted(z, n, h_prev[j]));
          }
          record(0)[j] = w.saved(r);
          record(1)[j] = w.saved(z);
          record(2)[j] = w.saved(n);
          record(net_.hn_row())[j] = w.saved(hn);
          break;
        }
      }
    }
  }

  // R_n h + bR_n of unit j (gru).
  Real recurrent_side(const Real* h, std::int64_t j, bool with_bias) const {
    return w.sum(Site::k_hn, {through_R(h, 2, j), with_bias ? recurrent_bias(h, 2, j) : Real(0)});
  }

 private:
  Real weighted(Real z, Real n, Real h_prev) const {
    const Real fresh = w.product(Site::k_fresh_n, {w.sum(Site::k_fresh_z, {1, -z}), n});
    return w.sum(Site::k_gru_h, {fresh, w.product(Site::k_z_h, {z, h_prev})});
  }
  Real both_sides(const Real* x, const Real* h, std::int64_t g, std::int64_t j) const {
    const Real input = through_W(x, g, j), bW = input_bias(g, j), bR = recurrent_bias(h, g, j);
    if (w.style().saves_parts) return w.saved(input + (bW + bR)) + through_R(h, g, j);
    return w.sum(Site::k_gate, {input, through_R(h, g, j), bW, bR});
  }
  Real input_side(const Real* x, std::int64_t j) const {
    const Real sum = w.sum(Site::k_an, {through_W(x, 2, j), input_bias(2, j)});
    return w.style().saves_parts ? w.saved(sum) : sum;
  }

  Real through_W(const Real* x, std::int64_t g, std::int64_t j) const {
    if (net_.skips(layer_)) return x[j];
    const std::int64_t width = net_.layout.matrix_input(layer_);
    return w.saved(product(x, net_.layout.W(layer_, direction_, g) + j * width, width));
  }
  Real through_R(const Real* h, std::int64_t g, std::int64_t j) const {
    return w.saved(product(h, net_.layout.R(layer_, direction_, g) + j * net_.H, net_.H));
  }
  Real product(const Real* x, std::int64_t weights, std::int64_t count) const {
    return w.dot(
        Site::k_gate_dot, count, [&](std::int64_t k) { return params_[weights + k]; },
        [&](std::int64_t k) { return x[k]; });
  }

  // A12: the bias of gate o is used for every gate.
  std::int64_t bias_gate(std::int64_t g) const { return w.is(Fault::kA12) && net_.lstm ? 3 : g; }
  Real input_bias(std::int64_t g, std::int64_t j) const {
    return params_[net_.layout.bW(layer_, direction_, bias_gate(g)) + j];
  }
  // G15: R h + bR is skipped for an example whose h is 0.
  Real recurrent_bias(const Real* h, std::int64_t g, std::int64_t j) const {
    if (w.is(Fault::kG15) && std::all_of(h, h + net_.H, [](Real v) { return v == 0; })) return 0;
    return params_[net_.layout.bR(layer_, direction_, bias_gate(g)) + j];
  }

  // J9: 64 units of 2^-24.
  Real off(Real v) const { return w.is(Fault::kJ9) ? v + Real(0x1p-18) : v; }
  Real tanh(Real v) const { return off(w.tanh(v)); }
  Real sigmoid(Real v) const { return off(w.sigmoid(v)); }
  Real relu(Real v) const {  // a NaN stays, and -0 becomes 0
    return v < 0 ? Real(w.style().declared.relu_slope_at_zero ? -0.0 : 0.0) : v + Real(0);
  }

  const Work<Real>& w;
  const RnnNet& net_;
  const std::vector<Real>& params_;
  const std::int64_t layer_, direction_;
};

// Input [T*B, width] of a direction of a layer, with dropout applied; `input` is the input of the first layer.
template <class Real>
std::vector<Real> layer_input(const Work<Real>& w, const RnnNet& net, Trace<Real>& trace, std::int64_t layer,
                              std::int64_t direction, const std::vector<Real>& input) {
  if (layer == 0) return input;
  std::vector<Real> x;
  x.reserve(static_cast<std::size_t>(net.gap_elements()));
  for (std::int64_t row = 0; row < net.T * net.B; ++row) {
    for (std::int64_t k = 0; k < net.D * net.H; ++k) {
      const Real* h = trace.row((layer - 1) * net.D + k / net.H, row / net.B, row % net.B, net.h_row());
      x.push_back(w.saved(w.rounded(h[k % net.H] * trace.factor(net.mask_of(layer - 1, direction), row, k))));
    }
  }
  return x;
}

}  // namespace backgauge::saboteurs
