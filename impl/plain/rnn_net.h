// SPDX-License-Identifier: Apache-2.0
// Sizes of a CudnnRNN* call, and the layouts of params (reference/semantics.md 4.2) and of reserve_space.
//
// reserve_space: for every pseudo-layer, step and example a record of rows of H values in the type of the computation:
// the gates after the activation (relu: before it, because its slope at 0 is 1), h, then cs and co (lstm) or
// R_n h + bR_n (gru). After all records one byte for every element of every gap between two layers and every direction
// that reads it: 1 where dropout keeps it. No gaps are stored if dropout is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::plain {

struct RnnNet {
  backgauge_rnn_mode mode;
  std::int64_t T, B, I, H, L, D;
  std::int64_t gates;
  bool skip_input;
  float dropout;

  // Width of the input of a layer.
  std::int64_t width(std::int64_t layer) const { return layer == 0 ? I : D * H; }
  bool skips(std::int64_t layer) const { return layer == 0 && skip_input; }
  // Width of its W.
  std::int64_t columns(std::int64_t layer) const { return skips(layer) ? 0 : width(layer); }

  // Offsets in params, in elements: [H, columns], [H, H], [H], [H].
  std::int64_t W(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t R(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t bW(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t bR(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t params_length() const;

  // Rows of a record: gate g is row g.
  std::int64_t h_row() const { return gates; }
  std::int64_t cs_row() const { return gates + 1; }  // lstm
  std::int64_t co_row() const { return gates + 2; }  // lstm
  std::int64_t hn_row() const { return gates + 1; }  // gru
  std::int64_t record_rows() const;

  std::int64_t trace_length() const { return L * D * T * B * record_rows() * H; }             // reals
  std::int64_t mask_length() const { return dropout > 0 ? (L - 1) * D * T * B * D * H : 0; }  // bytes
  std::int64_t reserve_length(std::int32_t dtype) const;                                      // elements
};

// The sizes of any call, or in `error` why it has none. Reads only dtype, attributes,
// and the shapes of input and input_h.
std::optional<RnnNet> rnn_net(const backgauge_call& call, std::string& error);

// The values that the forward pass stores for the backward pass.
template <class Real>
struct Trace {
  std::vector<Real> records;
  std::vector<std::uint8_t> keep;

  explicit Trace(const RnnNet& net);
  static Trace load(const RnnNet& net, const backgauge_tensor& reserve_space);
  void store(const backgauge_tensor& reserve_space) const;

  // A row [H] of the record of pseudo-layer `layer * D + direction`.
  Real* row(const RnnNet& net, std::int64_t pseudo_layer, std::int64_t t, std::int64_t b, std::int64_t which) {
    return &records[(((pseudo_layer * net.T + t) * net.B + b) * net.record_rows() + which) * net.H];
  }
  // The factor of dropout for element [t, b, k] of the output of layer `gap`, where a direction reads it.
  Real factor(const RnnNet& net, std::int64_t gap, std::int64_t direction, std::int64_t t, std::int64_t b,
              std::int64_t k) const {
    if (keep.empty()) return 1;
    const bool kept = keep[(((gap * net.D + direction) * net.T + t) * net.B + b) * net.D * net.H + k] != 0;
    return kept ? static_cast<Real>(1 / (1 - static_cast<double>(net.dropout))) : Real(0);
  }
};

// Input [T, B, width(layer)] of a direction of a layer, with dropout applied.
template <class Real>
std::vector<Real> layer_input(const RnnNet& net, Trace<Real>& trace, std::int64_t layer, std::int64_t direction,
                              const std::vector<Real>& input);

}  // namespace backgauge::plain
