// SPDX-License-Identifier: Apache-2.0
// Layout of the flat `params` buffer of CudnnRNN*, in closed form. reference/semantics.md section 4.
//
// All matrices first: for every pseudo-layer (layer, direction) W[gate] [H, in], then R[gate] [H, H], row-major,
// element [j * in + k] from input k to unit j. Then all biases: for every pseudo-layer bW[gate] [H], then bR[gate] [H].
// Gates: rnn_relu, rnn_tanh 1; lstm i,f,n,o; gru r,z,n. With skip_input layer 0 has no W.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/contract/backgauge.h"

namespace backgauge {

struct RnnParams {
  std::int64_t layers, directions, gates, input_size, hidden_size;
  bool skip_input;  // auto_select resolved

  // Width of the input of a layer, and of its W (0 if it has none).
  std::int64_t layer_input(std::int64_t layer) const { return layer == 0 ? input_size : directions * hidden_size; }
  std::int64_t matrix_input(std::int64_t layer) const { return layer == 0 && skip_input ? 0 : layer_input(layer); }

  // Offsets in elements. layer in 0..L-1, direction in 0..D-1, gate in 0..gates-1.
  std::int64_t W(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t R(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t bW(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;
  std::int64_t bR(std::int64_t layer, std::int64_t direction, std::int64_t gate) const;

  std::int64_t matrices() const;  // elements of all matrices: the offset of the biases
  std::int64_t size() const;      // elements in total
};

// Gates of a mode: 1, 3 or 4; 0 for an unknown one.
std::int64_t rnn_gates(std::int32_t rnn_mode);

// True for skip_input, and for auto_select with I == H.
bool resolves_to_skip(std::int32_t input_mode, std::int64_t I, std::int64_t H);

// The layout of a call with legal attributes.
RnnParams rnn_params(const backgauge_attributes& attributes, std::int64_t I, std::int64_t H, std::int64_t L);

// size(), or nullopt if it is more than 2^60 elements.
std::optional<std::int64_t> checked_size(const RnnParams& layout);

}  // namespace backgauge
