// SPDX-License-Identifier: Apache-2.0
// Sizes of a CudnnRNN* call, the offsets of weights in params, and the contents of reserve_space.
//
// reserve_space: for every pseudo-layer, step and example a record of rows of H values in the type of the computation:
// the activated gates (lstm, gru), h, then cs and co (lstm) or R_n h + bR_n (gru). After the records follows one byte
// for every element of every gap between two layers, 1 where dropout keeps the element.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "properties/saboteurs/ops.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::saboteurs {

// Offsets in params of the weights and biases of one gate of one pseudo-layer.
struct GateBlock {
  std::int64_t W, R, bW, bR;
};

struct RnnNet {
  explicit RnnNet(const Context& context);

  const Variant* variant;
  backgauge_rnn_mode mode;
  bool lstm, gru;
  std::int64_t T, B, I, H, L, D, G;
  std::int64_t masks;  // of each gap between two layers
  double dropout;
  RnnParams layout;

  bool is(Fault fault) const { return variant->fault == fault; }
  bool skips(std::int64_t layer) const { return layer == 0 && layout.skip_input; }

  // reference/semantics.md 4.2; the second with the faults of layout. The forward pass uses the first.
  GateBlock block(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  GateBlock block_of_gradient(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;

  // Rows of a record; gate g is row g.
  std::int64_t h_row() const { return G; }
  std::int64_t cs_row() const { return G + 1; }  // lstm
  std::int64_t co_row() const { return G + 2; }  // lstm
  std::int64_t hn_row() const { return G + 1; }  // gru

  std::int64_t row_of(std::int64_t t, std::int64_t b) const { return t * B + b; }
  std::int64_t gap_elements() const { return T * B * D * H; }
  // The number of the mask through which a direction of layer `gap` + 1 reads its input.
  std::int64_t mask_of(std::int64_t gap, std::int64_t direction) const { return gap * masks + direction % masks; }
};

template <class Real>
class Trace {
 public:
  explicit Trace(const RnnNet& net);
  void load(const backgauge_tensor& reserve_space);
  void store(const backgauge_tensor& reserve_space) const;

  // Draws the dropout masks: a function of the key and the element.
  void draw_masks(std::uint64_t key);

  // A row [H] of the record of a pseudo-layer at a step.
  Real* row(std::int64_t pseudo_layer, std::int64_t t, std::int64_t b, std::int64_t which) {
    return &records_[((pseudo_layer * net_.T * net_.B + net_.row_of(t, b)) * rows_ + which) * net_.H];
  }

  bool keeps(std::int64_t mask, std::int64_t row, std::int64_t k) const {
    return keep_[mask * net_.gap_elements() + row * net_.D * net_.H + k] != 0;
  }
  // The factor of a mask for element k of what a layer gives.
  Real factor(std::int64_t mask, std::int64_t row, std::int64_t k) const;

 private:
  const RnnNet& net_;
  const std::int64_t rows_;
  std::vector<Real> records_;
  std::vector<std::uint8_t> keep_;
};

// The key of the dropout masks: seed in the upper half, seed2 in the lower. A negative seed2 sets the upper half to 1s.
std::uint64_t dropout_key(const backgauge_attributes& attributes);

}  // namespace backgauge::saboteurs
