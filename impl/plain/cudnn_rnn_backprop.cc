// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop, reference/semantics.md 3.4: layers from the last to the first, steps in the reverse order of the
// forward pass. States come from reserve_space, which is only read.
#include <algorithm>

#include "impl/plain/lstm_cell.h"
#include "impl/plain/ops.h"
#include "impl/plain/rnn_net.h"
#include "impl/plain/tensors.h"

namespace backgauge::plain {
namespace {

// Gradients of one step of one example.
template <class Real>
struct StepGradients {
  std::vector<Real> input_side, recurrent_side;  // [gates * H], with respect to W x + bW and R h + bR
  std::vector<Real> h_prev;                      // [H], the part that bypasses the gates: gru only, else zeros
};

// dh: the complete gradient of h. dc: on input the gradient of cs, on output that of cs_prev. record, h_prev and
// cs_prev: rows of H.
template <class Real>
void step_backward(const RnnNet& net, const Real* record, const Real* h_prev, const Real* cs_prev, const Real* dh,
                   Real* dc, StepGradients<Real>& d) {
  const std::int64_t H = net.H;
  const auto saved = [&](std::int64_t row, std::int64_t j) { return record[row * H + j]; };
  for (std::int64_t j = 0; j < H; ++j) {
    const auto set = [&](std::int64_t gate, Real input_side, Real recurrent_side) {
      d.input_side[gate * H + j] = input_side;
      d.recurrent_side[gate * H + j] = recurrent_side;
    };
    switch (net.mode) {
      case BACKGAUGE_RNN_RELU: {
        const Real da = saved(0, j) >= 0 ? dh[j] : 0;  // saved before the activation: slope 1 at its kink
        set(0, da, da);
        break;
      }
      case BACKGAUGE_RNN_TANH: {
        const Real da = dh[j] * (1 - saved(0, j) * saved(0, j));
        set(0, da, da);
        break;
      }
      case BACKGAUGE_LSTM: {
        const LstmGradient<Real> g = lstm_cell_backward<Real>(
            {cs_prev[j], saved(0, j), saved(1, j), saved(3, j), saved(2, j), saved(net.co_row(), j), dc[j], dh[j]},
            nullptr);
        set(0, g.i, g.i);
        set(1, g.f, g.f);
        set(2, g.ci, g.ci);
        set(3, g.o, g.o);
        dc[j] = g.cs_prev;
        break;
      }
      case BACKGAUGE_GRU: {
        const Real r = saved(0, j), z = saved(1, j), n = saved(2, j), hn = saved(net.hn_row(), j);
        const Real dn = dh[j] * (1 - z) * (1 - n * n);
        const Real dz = dh[j] * (h_prev[j] - n) * z * (1 - z);
        const Real dr = dn * hn * r * (1 - r);
        set(0, dr, dr);
        set(1, dz, dz);
        set(2, dn, dn * r);  // n contains r times R_n h + bR_n
        d.h_prev[j] = dh[j] * z;
        break;
      }
    }
  }
}

// One example of one pseudo-layer at one step: adds to the gradients of the weights and of the layer's input, x_grad,
// and turns h_grad into the gradient of h_prev.
template <class Real>
void accumulate(const RnnNet& net, std::int64_t layer, std::int64_t direction, const std::vector<Real>& params,
                const StepGradients<Real>& d, const Real* x, const Real* h_prev, Real* x_grad, Real* h_grad,
                std::vector<Real>& params_grad) {
  const std::int64_t H = net.H, columns = net.columns(layer);
  std::copy(d.h_prev.begin(), d.h_prev.end(), h_grad);
  for (std::int64_t g = 0; g < net.gates; ++g) {
    for (std::int64_t j = 0; j < H; ++j) {
      const Real da = d.input_side[g * H + j], dr = d.recurrent_side[g * H + j];
      const std::int64_t W = net.W(layer, direction, g) + j * columns, R = net.R(layer, direction, g) + j * H;
      for (std::int64_t k = 0; k < columns; ++k) {
        x_grad[k] += params[W + k] * da;
        params_grad[W + k] += da * x[k];
      }
      if (net.skips(layer)) x_grad[j] += da;
      for (std::int64_t k = 0; k < H; ++k) {
        h_grad[k] += params[R + k] * dr;
        params_grad[R + k] += dr * h_prev[k];
      }
      params_grad[net.bW(layer, direction, g) + j] += da;
      params_grad[net.bR(layer, direction, g) + j] += dr;
    }
  }
}

}  // namespace

template <class Real>
void cudnn_rnn_backprop(const backgauge_call& call) {
  std::string error;
  const RnnNet net = rnn_net(call, error).value();
  const std::int64_t T = net.T, B = net.B, H = net.H, D = net.D;
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  const auto input = read<Real>(call, "input"), params = read<Real>(call, "params");
  const auto input_h = read<Real>(call, "input_h");
  const auto input_c = lstm ? read<Real>(call, "input_c") : std::vector<Real>{};
  auto trace = Trace<Real>::load(net, plain::input(call, "reserve_space"));
  auto h_grad = read<Real>(call, "output_h_backprop");  // become those of input_h and input_c
  auto c_grad = lstm ? read<Real>(call, "output_c_backprop") : std::vector<Real>{};
  auto y_grad = read<Real>(call, "output_backprop");
  std::vector<Real> params_grad(static_cast<std::size_t>(net.params_length()));
  StepGradients<Real> d{std::vector<Real>(net.gates * H), std::vector<Real>(net.gates * H), std::vector<Real>(H)};
  std::vector<Real> dh(H);

  for (std::int64_t layer = net.L - 1; layer >= 0; --layer) {
    const std::int64_t width = net.width(layer);
    std::vector<Real> x_grad(T * B * width);
    for (std::int64_t direction = 0; direction < D; ++direction) {
      const std::vector<Real> x = layer_input(net, trace, layer, direction, input);
      std::vector<Real> side(T * B * width);  // of x_grad, before dropout
      const std::int64_t pseudo_layer = layer * D + direction;
      for (std::int64_t step = 0; step < T; ++step) {
        const std::int64_t t = direction == 0 ? T - 1 - step : step;
        const std::int64_t before = direction == 0 ? t - 1 : t + 1;
        const bool first = step == T - 1;  // in forward order: the previous state is the initial one
        for (std::int64_t b = 0; b < B; ++b) {
          const std::int64_t state = (pseudo_layer * B + b) * H;
          const Real* h_prev = first ? &input_h[state] : trace.row(net, pseudo_layer, before, b, net.h_row());
          const Real* cs_prev = !lstm   ? nullptr
                                : first ? &input_c[state]
                                        : trace.row(net, pseudo_layer, before, b, net.cs_row());
          const Real* dy = &y_grad[((t * B + b) * D + direction) * H];
          for (std::int64_t j = 0; j < H; ++j) dh[j] = h_grad[state + j] + dy[j];
          step_backward(net, trace.row(net, pseudo_layer, t, b, 0), h_prev, cs_prev, dh.data(),
                        lstm ? &c_grad[state] : nullptr, d);
          accumulate(net, layer, direction, params, d, x.data() + (t * B + b) * width, h_prev,
                     side.data() + (t * B + b) * width, &h_grad[state], params_grad);
        }
      }
      for (std::int64_t row = 0; row < T * B; ++row) {
        for (std::int64_t k = 0; k < width; ++k) {
          const Real factor = layer == 0 ? 1 : trace.factor(net, layer - 1, direction, row / B, row % B, k);
          x_grad[row * width + k] += factor * side[row * width + k];
        }
      }
    }
    y_grad = std::move(x_grad);
  }
  write(call, "input_backprop", y_grad);
  write(call, "input_h_backprop", h_grad);
  if (lstm) write(call, "input_c_backprop", c_grad);
  write(call, "params_backprop", params_grad);
}

template void cudnn_rnn_backprop<float>(const backgauge_call& call);
template void cudnn_rnn_backprop<double>(const backgauge_call& call);

}  // namespace backgauge::plain
