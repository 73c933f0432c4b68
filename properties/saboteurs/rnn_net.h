// SPDX-License-Identifier: Apache-2.0
// Sizes of a CudnnRNN* call, where the gradient finds its weights, and what the forward leaves to it.
//
// reserve_space: for every pseudo-layer, step and example a record of rows of H reals in the type that is computed in,
// the activated gates (lstm, gru), h, then cs and co (lstm) or R_n h + bR_n (gru); after them a byte for every element
// of every gap between two layers, 1 where dropout keeps it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "properties/saboteurs/ops.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::saboteurs {

// Offsets in params of what one gate of one pseudo-layer has.
struct GateBlock {
  std::int64_t W, R, bW, bR;
};

struct RnnNet {
  explicit RnnNet(const Context& context);

  const Variant* variant;
  backgauge_rnn_mode mode;
  bool lstm, gru;
  std::int64_t T, B, I, H, L, D, G;
  double dropout;
  RnnParams layout;

  bool is(Fault fault) const { return variant->fault == fault; }
  bool skips(std::int64_t layer) const { return layer == 0 && layout.skip_input; }

  // reference/semantics.md 4.2, and where faults of layout see it. The forward has the first of the two.
  GateBlock block(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  GateBlock block_of_gradient(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;

  // Rows of a record; gate g is row g.
  std::int64_t h_row() const { return G; }
  std::int64_t cs_row() const { return G + 1; }  // lstm
  std::int64_t co_row() const { return G + 2; }  // lstm
  std::int64_t hn_row() const { return G + 1; }  // gru

  std::int64_t row_of(std::int64_t t, std::int64_t b) const { return t * B + b; }
  std::int64_t gap_elements() const { return T * B * D * H; }
};

template <class Real>
class Trace {
 public:
  explicit Trace(const RnnNet& net);
  void load(const backgauge_tensor& reserve_space);
  void store(const backgauge_tensor& reserve_space) const;

  // Chooses what dropout keeps: a function of the key and the element.
  void draw_masks(std::uint64_t key);

  // A row [H] of the record of a pseudo-layer at a step.
  Real* row(std::int64_t pseudo_layer, std::int64_t t, std::int64_t b, std::int64_t which) {
    return &records_[((pseudo_layer * net_.T * net_.B + net_.row_of(t, b)) * rows_ + which) * net_.H];
  }

  bool keeps(std::int64_t gap, std::int64_t row, std::int64_t k) const {
    return keep_[gap * net_.gap_elements() + row * net_.D * net_.H + k] != 0;
  }
  // What dropout multiplies element k of the output of layer `gap` with.
  Real factor(std::int64_t gap, std::int64_t row, std::int64_t k) const;

 private:
  const RnnNet& net_;
  const std::int64_t rows_;
  std::vector<Real> records_;
  std::vector<std::uint8_t> keep_;
};

// Of the dropout masks: seed above, seed2 below, where a negative seed2 fills the upper half with ones.
std::uint64_t dropout_key(const backgauge_attributes& attributes);

}  // namespace backgauge::saboteurs
