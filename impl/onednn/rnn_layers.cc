// SPDX-License-Identifier: Apache-2.0
#include "impl/onednn/rnn_layers.h"

#include <algorithm>

#include "impl/onednn/kept.h"

namespace backgauge::onednn {
namespace {

// oneDNN's gate of the contract's: they agree but for the GRU, which has r, z, n here and z (update), r, n there.
std::int64_t onednn_gate(std::int32_t mode, std::int64_t gate) {
  return mode == BACKGAUGE_GRU && gate < 2 ? 1 - gate : gate;
}

// W [gate, unit, in] and R [gate, unit, H] of one direction after the other.
WeightStrides strides(const RnnLayerShape& shape, Side side) {
  const LayerShape& s = shape.layer;
  const std::int64_t in = side == Side::kInput ? s.I : s.H;
  return {s.gates() * s.H * (shape.columns + s.H), 1, s.H * in, in};
}

std::size_t round_up(std::size_t bytes) {
  constexpr std::size_t kLine = 64;  // oneDNN's code is at its best on whole cache lines
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

RnnLayer::RnnLayer(const RnnLayerShape& all) : layer(all.layer) {
  const LayerShape& s = all.layer;
  const bool same_order = s.mode != BACKGAUGE_GRU;
  for (const Side side : {Side::kInput, Side::kRecurrent}) {
    for (std::int64_t gate = 0; gate < (same_order ? 1 : s.gates()); ++gate) {
      const GateRange range{onednn_gate(s.mode, gate), same_order ? s.gates() : 1};
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
        copies_in_[static_cast<int>(pass)][static_cast<int>(side)].push_back(
            {gate, layer.weights_in(pass, side, strides(all, side), range)});
      }
      copies_out_[static_cast<int>(side)].push_back({gate, layer.gradients_out(side, strides(all, side), range)});
    }
  }
}

void RnnLayer::load_weights(Pass pass, Side side, const float* params, const RnnParams& at, std::int64_t l,
                            void* to) const {
  for (const Copy& c : copies_in_[static_cast<int>(pass)][static_cast<int>(side)]) {
    c.copy(params + (side == Side::kInput ? at.W(l, 0, c.gate) : at.R(l, 0, c.gate)), to);
  }
}

void RnnLayer::store_gradients(Side side, const void* from, const RnnParams& at, std::int64_t l, float* params) const {
  for (const Copy& c : copies_out_[static_cast<int>(side)]) {
    c.copy(from, params + (side == Side::kInput ? at.W(l, 0, c.gate) : at.R(l, 0, c.gate)));
  }
}

void RnnLayer::load_bias(const float* params, const RnnParams& at, std::int64_t l, float* bias) const {
  const LayerShape& s = layer.shape;
  for (std::int64_t d = 0; d < s.D; ++d) {
    for (std::int64_t gate = 0; gate < s.gates(); ++gate) {
      const float *input = params + at.bW(l, d, gate), *recurrent = params + at.bR(l, d, gate);
      const bool apart = s.mode == BACKGAUGE_GRU && gate == 2;
      float* out = bias + (d * s.biases() + onednn_gate(s.mode, gate)) * s.H;
      for (std::int64_t j = 0; j < s.H; ++j) out[j] = apart ? input[j] : input[j] + recurrent[j];
      if (apart) std::copy_n(recurrent, s.H, out + s.H);
    }
  }
}

void RnnLayer::store_bias_gradient(const float* bias, const RnnParams& at, std::int64_t l, float* params) const {
  const LayerShape& s = layer.shape;
  for (std::int64_t d = 0; d < s.D; ++d) {
    for (std::int64_t gate = 0; gate < s.gates(); ++gate) {
      const float* in = bias + (d * s.biases() + onednn_gate(s.mode, gate)) * s.H;
      const bool apart = s.mode == BACKGAUGE_GRU && gate == 2;
      std::copy_n(in, s.H, params + at.bW(l, d, gate));
      std::copy_n(apart ? in + s.H : in, s.H, params + at.bR(l, d, gate));
    }
  }
}

RnnLayers::RnnLayers(const Extents& extents, const backgauge_attributes& attributes, int num_threads)
    : e(extents), params(rnn_params(attributes, e.I, e.H, e.L)), drops_all(attributes.dropout >= 1) {
  if (e.B == 0) return;
  for (std::int64_t l = 0; l < e.L; ++l) {
    const std::int64_t columns = params.layer_input(l), inputs = std::max<std::int64_t>(columns, 1);
    layers.push_back(
        kept<RnnLayer>(RnnLayerShape{{attributes.rnn_mode, e.T, e.B, inputs, e.H, e.D, false, num_threads}, columns}));
  }
}

std::size_t RnnLayers::most_bytes(Pass pass, int argument) const {
  std::size_t most = 0;
  for (const auto& layer : layers) most = std::max(most, layer->bytes(pass, argument));
  return most;
}

std::size_t RnnLayers::workspace_at(std::int64_t l) const {
  std::size_t at = 0;
  for (std::int64_t k = 0; k < l; ++k) {
    const Layer& layer = layers[static_cast<std::size_t>(k)]->layer;
    at += round_up(layer.bytes(Pass::kForward, DNNL_ARG_WORKSPACE)) +
          round_up(layer.bytes(Pass::kForward, DNNL_ARG_DST_LAYER));
  }
  return at;
}

std::size_t RnnLayers::output_at(std::int64_t l) const {
  return workspace_at(l) +
         round_up(layers[static_cast<std::size_t>(l)]->layer.bytes(Pass::kForward, DNNL_ARG_WORKSPACE));
}

std::size_t RnnLayers::reserve_bytes() const { return is_empty() ? 0 : output_at(e.L - 1); }

}  // namespace backgauge::onednn
