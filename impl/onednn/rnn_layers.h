// SPDX-License-Identifier: Apache-2.0
// The layers of a CudnnRNN* call, oneDNN's one by one, and what lies where: in reserve_space, for every layer the
// workspace of its primitive, and, but for the last, its output [T, B, D*H].
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impl/onednn/layer.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::onednn {

struct RnnLayerShape {
  LayerShape layer;
  std::int64_t columns;  // of W in `params`: 0 where oneDNN is given one input that is 0, as it has no layer without

  auto operator<=>(const RnnLayerShape&) const = default;
};

// What is made of the sizes of a layer.
class RnnLayer {
 public:
  explicit RnnLayer(const RnnLayerShape& shape);

  Layer layer;

  std::size_t bytes(Pass pass, int argument) const { return layer.bytes(pass, argument); }

  // Weights and biases of the layer between `params`, laid out as the contract says, and oneDNN's arguments.
  void load_weights(Pass pass, Side side, const float* params, const RnnParams& at, std::int64_t l, void* to) const;
  void store_gradients(Side side, const void* from, const RnnParams& at, std::int64_t l, float* params) const;
  void load_bias(const float* params, const RnnParams& at, std::int64_t l, float* bias) const;
  void store_bias_gradient(const float* bias, const RnnParams& at, std::int64_t l, float* params) const;

 private:
  struct Copy {
    std::int64_t gate;  // the contract's first one
    WeightCopy copy;
  };
  std::vector<Copy> copies_in_[2][2], copies_out_[2];  // [pass][side], [side]
};

struct RnnLayers {
  RnnLayers(const Extents& extents, const backgauge_attributes& attributes, int num_threads);

  Extents e;
  RnnParams params;
  bool drops_all;  // dropout of 1 between layers
  std::vector<std::shared_ptr<const RnnLayer>> layers;

  bool is_empty() const { return layers.empty(); }  // B = 0, which oneDNN does not know
  std::size_t most_bytes(Pass pass, int argument) const;
  std::int64_t step() const { return e.D * e.B * e.H; }  // of the states of a layer

  // Offsets in reserve_space, in bytes.
  std::size_t workspace_at(std::int64_t l) const;
  std::size_t output_at(std::int64_t l) const;
  std::size_t reserve_bytes() const;
};

}  // namespace backgauge::onednn
