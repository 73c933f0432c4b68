// SPDX-License-Identifier: Apache-2.0
// One step of one example of a pseudo-layer, backward: reference/semantics.md 3.4. Also the faults of group I that
// concern vectors of units, and those of the recurrent product.
#pragma once

#include <vector>

#include "properties/saboteurs/lstm_cell.h"
#include "properties/saboteurs/rnn_cell.h"
#include "properties/saboteurs/rnn_gates.h"

namespace backgauge::saboteurs {

// Rows of H.
template <class Real>
struct StepInputs {
  const Real* record;            // of this step, rows one after another
  const Real *h_prev, *cs_prev;  // cs_prev: lstm
  const Real* gap;               // the factors of dropout for h
};

template <class Real>
class RnnStep {
 public:
  RnnStep(const Work<Real>& work, const RnnNet& net, const std::vector<Real>& params, std::int64_t layer,
          std::int64_t direction)
      : w(work), net_(net), params_(params), cell_(work, net, params, layer, direction) {
    for (std::int64_t g = 0; g < net.G; ++g) {
      R_.push_back(net.block_of_gradient(layer, direction, g).R);
      const bool exchanged = w.is(Fault::kE8) && net.gru && g == 2 && net.layout.matrix_input(layer) == net.H;
      if (exchanged) R_.back() = net.block(layer, direction, g).W;
    }
  }

  // dh: gradient of h. dc [H] (lstm): on input the gradient of cs, on output that of cs_prev. Writes the row of da and
  // dr, and the gradient of h_prev to dh_prev.
  void backward(const StepInputs<Real>& in, const Real* dh, Real* dc, std::int64_t row, GateRows<Real>& da,
                GateRows<Real>& dr, Real* dh_prev) const {
    const std::int64_t H = net_.H;
    std::vector<Real> past_the_gates(static_cast<std::size_t>(H));
    const std::vector<Real> dc_after(dc, dc + (net_.lstm ? H : 0));
    const Real* h = in.record + net_.h_row() * H;
    for (std::int64_t j = 0; j < H; ++j) {
      const auto set = [&](std::int64_t gate, Real input_side, Real recurrent_side) {
        da.at(row, gate, j) = w.saved(input_side);
        dr.at(row, gate, j) = w.saved(recurrent_side);
      };
      switch (net_.mode) {
        case BACKGAUGE_RNN_RELU: {
          const std::int64_t unit = w.index(Site::k_state_index, w.is(Fault::kF1) ? j / 4 * 4 : j, H);
          const Real d = relu_backward(w, h[unit] * (w.is(Fault::kF5) ? in.gap[unit] : 1), dh[j]);
          set(0, d, d);
          break;
        }
        case BACKGAUGE_RNN_TANH: {
          const Real d = tanh_backward(w, h[w.index(Site::k_state_index, j, H)], dh[j]);
          set(0, d, d);
          break;
        }
        case BACKGAUGE_LSTM: {
          const LstmGradient<Real> d = lstm_cell_backward<Real>(w, lstm_element(in, dc_after, j, dh[j]), nullptr);
          set(0, d.i, d.i);
          set(1, d.f, d.f);
          set(2, d.ci, d.ci);
          set(3, d.o, d.o);
          dc[j] = w.carried(d.cs_prev);
          break;
        }
        case BACKGAUGE_GRU: {
          const GruGradient<Real> d = gru_backward(w, gru_element(in, j), dh[j]);
          set(0, d.r, d.r);
          set(1, d.z, d.z);
          set(2, d.n, d.hn);
          past_the_gates[j] = d.h_prev;
          break;
        }
      }
    }
    spoil_units(da, row);
    spoil_units(dr, row);
    if (w.is(Fault::kE5) && net_.gru) reset_before(in, row, da, dr, past_the_gates);
    for (std::int64_t k = 0; k < H; ++k) {
      const Real through_R = recurrent(dr, row, k);
      dh_prev[k] = w.carried(net_.gru ? w.sum(Site::k_dh_prev, {through_R, past_the_gates[k]}) : through_R);
    }
  }

 private:
  LstmElement<Real> lstm_element(const StepInputs<Real>& in, const std::vector<Real>& dc, std::int64_t j,
                                 Real dh) const {
    const auto at = [&](std::int64_t which, Site site) { return in.record[which * net_.H + w.index(site, j, net_.H)]; };
    return {.cs_prev = in.cs_prev[w.index(Site::k_cs_prev_index, j, net_.H)],
            .cs = in.record[net_.cs_row() * net_.H + j],
            .i = at(0, Site::k_i_index),
            .f = at(1, Site::k_f_index),
            .o = at(3, Site::k_o_index),
            .ci = at(2, Site::k_ci_index),
            .co = at(net_.co_row(), Site::k_co_index),
            .cs_grad = dc[w.index(Site::k_cs_grad_index, j, net_.H)],
            .h_grad = dh};
  }

  GruElement<Real> gru_element(const StepInputs<Real>& in, std::int64_t j) const {
    const std::int64_t H = net_.H;
    const auto at = [&](std::int64_t which, Site site) { return in.record[which * H + w.index(site, j, H)]; };
    const std::int64_t neighbour = (j + 1) % H;
    GruElement<Real> e{.r = w.is(Fault::kE14) ? in.record[neighbour] : at(0, Site::k_r_index),
                       .z = at(1, Site::k_z_index),
                       .n = at(2, Site::k_n_index),
                       .hn = at(net_.hn_row(), Site::k_hn_index),
                       .h = in.record[net_.h_row() * H + j],
                       .h_prev = in.h_prev[w.index(Site::k_gru_h_prev_index, j, H)]};
    if (w.is(Fault::kE6)) e.hn = cell_.recurrent_side(in.h_prev, j, false);
    if (w.is(Fault::kE15)) {
      const Real hn = cell_.recurrent_side(in.record + net_.h_row() * H, j, true);
      e.n = std::tanh(std::atanh(e.n) + e.r * (hn - e.hn));
      e.hn = hn;
    }
    return e;
  }

  // Sum over gates and units of R[unit, k] times the gradient of the unit.
  Real recurrent(const GateRows<Real>& dr, std::int64_t row, std::int64_t k) const {
    const std::int64_t H = net_.H, terms = net_.G * H;
    const bool short_of_one = w.is(Fault::kI7) && terms % 32 == 0;
    return w.dot(
        Site::k_R_dot, terms - (short_of_one ? 1 : 0),
        [&](std::int64_t i) {
          const std::int64_t unit = i % H, column = w.index(Site::k_R_column, k, H);
          return params_[R_[i / H] + (w.is(Fault::kB13) ? column * H + unit : unit * H + column)];
        },
        [&](std::int64_t i) { return dr.at(row, i / H, i % H); });
  }

  // E5: the gradients of n = tanh(W_n x + bW_n + R_n (r h) + bR_n).
  void reset_before(const StepInputs<Real>& in, std::int64_t row, GateRows<Real>& da, GateRows<Real>& dr,
                    std::vector<Real>& past_the_gates) const {
    const std::int64_t H = net_.H;
    for (std::int64_t k = 0; k < H; ++k) {
      Real through_R = 0;
      for (std::int64_t j = 0; j < H; ++j) through_R += params_[R_[2] + j * H + k] * da.at(row, 2, j);
      const Real r = in.record[k];
      da.at(row, 0, k) = dr.at(row, 0, k) = r * (1 - r) * in.h_prev[k] * through_R;
      past_the_gates[k] += (r - 1) * through_R;
    }
    for (std::int64_t j = 0; j < H; ++j) dr.at(row, 2, j) = da.at(row, 2, j);
  }

  void spoil_units(GateRows<Real>& gates, std::int64_t row) const {
    const std::int64_t H = net_.H;
    const std::int64_t block = w.is(Fault::kI1) ? 8 : w.is(Fault::kI1b) ? 16 : w.is(Fault::kI1c) ? 32 : H;
    for (std::int64_t g = 0; g < net_.G; ++g) {
      for (std::int64_t j = H > block ? H / block * block : H; j < H; ++j) gates.at(row, g, j) = 0;
      if (!w.is(Fault::kI6) || H < 12) continue;
      for (std::int64_t j = 8; j < 12; ++j) gates.at(row, g, j) = gates.at(row, g, j - 4);
    }
  }

  const Work<Real>& w;
  const RnnNet& net_;
  const std::vector<Real>& params_;
  const RnnCell<Real> cell_;
  std::vector<std::int64_t> R_;  // of each gate
};

}  // namespace backgauge::saboteurs
