// SPDX-License-Identifier: Apache-2.0
// Sizes of the net of a CudnnRNN or CudnnRNNBackprop call, and of what its forward leaves in reserve_space: the values
// that its cells keep, y of each layer [T, B, D*H] before dropout, and one byte for each element of y between two
// layers and each direction that reads it.
#pragma once

#include <cstdint>

#include "reference/contract/op_spec.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {

struct RnnSizes {
  // kept_: values that a cell keeps per unit and step, beside y.
  RnnSizes(const Extents& e, const backgauge_attributes& attributes, std::int64_t kept_)
      : mode(attributes.rnn_mode),
        T(e.T),
        B(e.B),
        H(e.H),
        L(e.L),
        D(e.D),
        G(rnn_gates(attributes.rnn_mode)),
        kept(kept_),
        has_masks(attributes.dropout > 0 && e.L > 1) {}

  std::int32_t mode;
  std::int64_t T, B, H, L, D, G, kept;
  bool has_masks;

  std::int64_t step() const { return B * H; }
  std::int64_t rows() const { return T * B; }
  std::int64_t width() const { return D * H; }  // of y
  std::int64_t gap() const { return rows() * width(); }
  std::int64_t values() const { return L * gap() * (kept + 1); }
  std::int64_t mask(std::int64_t gap, std::int64_t direction) const { return gap * D + direction; }
  std::int64_t masks() const { return has_masks ? (L - 1) * D * gap() : 0; }  // bytes
};

}  // namespace backgauge
