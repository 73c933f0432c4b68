// SPDX-License-Identifier: Apache-2.0
// CudnnRNN in training, reference/semantics.md 3.3: layer by layer, direction by direction, step by step.
#include <algorithm>
#include <cmath>

#include "impl/plain/ops.h"
#include "impl/plain/philox.h"
#include "impl/plain/rnn_net.h"
#include "impl/plain/tensors.h"

namespace backgauge::plain {
namespace {

template <class Real>
Real sigmoid(Real v) {
  return 1 / (1 + std::exp(-v));
}

template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t count) {
  Real sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

// The weights of one pseudo-layer.
template <class Real>
struct Cell {
  const RnnNet& net;
  const Real* params;
  std::int64_t layer, direction;

  // Unit j of gate g: W x + bW, and R h + bR.
  Real input_side(const Real* x, std::int64_t g, std::int64_t j) const {
    const std::int64_t columns = net.columns(layer);
    const Real product = net.skips(layer) ? x[j] : dot(params + net.W(layer, direction, g) + j * columns, x, columns);
    return product + params[net.bW(layer, direction, g) + j];
  }
  Real recurrent_side(const Real* h, std::int64_t g, std::int64_t j) const {
    return dot(params + net.R(layer, direction, g) + j * net.H, h, net.H) + params[net.bR(layer, direction, g) + j];
  }
  Real both_sides(const Real* x, const Real* h, std::int64_t g, std::int64_t j) const {
    return input_side(x, g, j) + recurrent_side(h, g, j);
  }

  // Computes one step of one example into its record. Updates cs.
  void step(const Real* x, const Real* h_prev, Real* cs, Real* record) const {
    const std::int64_t H = net.H;
    const auto row = [&](std::int64_t which) { return record + which * H; };
    Real* h = row(net.h_row());
    for (std::int64_t j = 0; j < H; ++j) {
      switch (net.mode) {
        case BACKGAUGE_RNN_RELU: h[j] = std::max(Real(0), row(0)[j] = both_sides(x, h_prev, 0, j)); break;
        case BACKGAUGE_RNN_TANH: h[j] = row(0)[j] = std::tanh(both_sides(x, h_prev, 0, j)); break;
        case BACKGAUGE_LSTM: {
          const Real i = sigmoid(both_sides(x, h_prev, 0, j)), f = sigmoid(both_sides(x, h_prev, 1, j));
          const Real n = std::tanh(both_sides(x, h_prev, 2, j)), o = sigmoid(both_sides(x, h_prev, 3, j));
          cs[j] = f * cs[j] + i * n;
          const Real co = std::tanh(cs[j]);
          h[j] = o * co;
          row(0)[j] = i;
          row(1)[j] = f;
          row(2)[j] = n;
          row(3)[j] = o;
          row(net.cs_row())[j] = cs[j];
          row(net.co_row())[j] = co;
          break;
        }
        case BACKGAUGE_GRU: {
          const Real r = sigmoid(both_sides(x, h_prev, 0, j)), z = sigmoid(both_sides(x, h_prev, 1, j));
          const Real hn = recurrent_side(h_prev, 2, j);
          const Real n = std::tanh(input_side(x, 2, j) + r * hn);
          h[j] = (1 - z) * n + z * h_prev[j];
          row(0)[j] = r;
          row(1)[j] = z;
          row(2)[j] = n;
          row(net.hn_row())[j] = hn;
          break;
        }
      }
    }
  }
};

template <class Real>
void draw_masks(const RnnNet& net, const backgauge_attributes& attributes, Trace<Real>& trace) {
  const std::uint64_t seed = seed_of(attributes.seed, attributes.seed2);
  const std::int64_t elements = net.T * net.B * net.D * net.H;
  for (std::size_t k = 0; k < trace.keep.size(); ++k) {
    const auto mask = static_cast<std::int64_t>(k) / elements, element = static_cast<std::int64_t>(k) % elements;
    trace.keep[k] = kept(seed, mask / net.D, mask % net.D, element, net.dropout) ? 1 : 0;
  }
}

}  // namespace

template <class Real>
void cudnn_rnn(const backgauge_call& call) {
  std::string error;
  const RnnNet net = rnn_net(call, error).value();
  const std::int64_t T = net.T, B = net.B, H = net.H, D = net.D;
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  const auto input = read<Real>(call, "input"), params = read<Real>(call, "params");
  std::vector<Real> output(T * B * D * H);
  std::vector<Real> output_h = read<Real>(call, "input_h"), output_c;  // the states as they advance
  if (lstm) output_c = read<Real>(call, "input_c");
  Trace<Real> trace(net);
  draw_masks(net, call.attributes, trace);

  for (std::int64_t layer = 0; layer < net.L; ++layer) {
    for (std::int64_t direction = 0; direction < D; ++direction) {
      const std::vector<Real> x = layer_input(net, trace, layer, direction, input);
      const Cell<Real> cell{net, params.data(), layer, direction};
      const std::int64_t pseudo_layer = layer * D + direction;
      for (std::int64_t step = 0; step < T; ++step) {
        const std::int64_t t = direction == 0 ? step : T - 1 - step;
        for (std::int64_t b = 0; b < B; ++b) {
          Real* h = &output_h[(pseudo_layer * B + b) * H];
          Real* cs = lstm ? &output_c[(pseudo_layer * B + b) * H] : nullptr;
          cell.step(x.data() + (t * B + b) * net.width(layer), h, cs, trace.row(net, pseudo_layer, t, b, 0));
          const Real* h_new = trace.row(net, pseudo_layer, t, b, net.h_row());
          std::copy(h_new, h_new + H, h);
          if (layer + 1 == net.L) std::copy(h_new, h_new + H, &output[((t * B + b) * D + direction) * H]);
        }
      }
    }
  }
  write(call, "output", output);
  write(call, "output_h", output_h);
  if (lstm) write(call, "output_c", output_c);
  trace.store(plain::output(call, "reserve_space"));
}

template void cudnn_rnn<float>(const backgauge_call& call);
template void cudnn_rnn<double>(const backgauge_call& call);

}  // namespace backgauge::plain
