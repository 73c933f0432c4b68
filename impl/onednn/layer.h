// SPDX-License-Identifier: Apache-2.0
// oneDNN's primitives for one layer of an RNN in one or both directions, float32, made of its sizes alone.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>

#include "impl/onednn/library.h"
#include "reference/contract/backgauge.h"

namespace backgauge::onednn {

struct LayerShape {
  std::int32_t mode = BACKGAUGE_LSTM;  // backgauge_rnn_mode
  std::int64_t T = 0, B = 0, I = 0, H = 0, D = 1;
  bool peephole = false;
  int threads = 1;

  auto operator<=>(const LayerShape&) const = default;
  std::int64_t gates() const { return mode == BACKGAUGE_LSTM ? 4 : mode == BACKGAUGE_GRU ? 3 : 1; }
  // Biases per unit: one a gate, and the candidate of the GRU has one more, inside its reset product.
  std::int64_t biases() const { return gates() + (mode == BACKGAUGE_GRU ? 1 : 0); }
};

enum class Pass { kForward, kBackward };
enum class Side { kInput, kRecurrent };

// Copies the weights of some gates between the user's memory and the layout that the primitives want.
class WeightCopy {
 public:
  WeightCopy(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  void operator()(const void* from, void* to) const;

 private:
  dnnl::memory::desc from_, to_;
  dnnl::reorder reorder_;
};

// Strides of the user's weights [D, in, gate, unit], in elements.
struct WeightStrides {
  std::int64_t direction, in, gate, unit;
};

// Some gates of a layer, in oneDNN's order: LSTM i, f, c, o; GRU update, reset, candidate.
struct GateRange {
  std::int64_t first, count;
};

// Memory of the arguments DNNL_ARG_... of a pass. Layers are [T, B, .], states [1, D, B, H], biases [1, D, biases, H],
// peephole weights [1, D, 3, H], all dense; weights, the workspace and the scratchpad are as oneDNN lays them out.
using Arguments = std::unordered_map<int, const void*>;

class Layer {
 public:
  // dnnl::error where oneDNN has no such primitive.
  explicit Layer(const LayerShape& shape);

  const LayerShape shape;

  WeightCopy weights_in(Pass pass, Side side, const WeightStrides& strides, GateRange gates) const;
  WeightCopy gradients_out(Side side, const WeightStrides& strides, GateRange gates) const;

  // Bytes of an argument as the pass wants it.
  std::size_t bytes(Pass pass, int argument) const;

  void execute(Pass pass, const Arguments& arguments) const;

 private:
  dnnl::memory::desc description(Pass pass, int argument) const;
  dnnl::memory::desc users(Side side, const WeightStrides& strides, GateRange gates) const;

  dnnl::primitive_desc_base descriptions_[2];
  dnnl::primitive primitives_[2];
};

}  // namespace backgauge::onednn
