// SPDX-License-Identifier: Apache-2.0
// What the stand-in computes, in double and step by step: training forward, gradients of data, gradients of weights,
// with cuDNN's own habits: relu has slope 1 at 0, each direction of a layer reads the layer below through a dropout
// mask of its own, gradients of data take the place of the gates in what the forward saved, and gradients of weights
// are added to what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/contract/backgauge.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::cudnn::standin {

using Values = std::vector<double>;

struct Sizes {
  backgauge_rnn_mode mode;
  std::int64_t T, B;
  RnnParams params;  // L, D, gates, I, H, skip
  double dropout;

  std::int64_t pseudo_layers() const { return params.layers * params.directions; }
  std::int64_t states() const { return pseudo_layers() * B * params.hidden_size; }
  std::int64_t inputs() const { return T * B * params.input_size; }
  std::int64_t outputs() const { return T * B * params.directions * params.hidden_size; }
  // Masks [gap * D + direction above it][T, B, D * H].
  std::int64_t masks() const { return dropout > 0 ? (params.layers - 1) * params.directions * outputs() : 0; }
  // Rows of H for every pseudo-layer, step and example: gates, h, then c and tanh(c) (lstm), R_n h + bR_n (gru) or the
  // slope (relu).
  std::int64_t rows() const { return params.gates + 3; }
  std::int64_t saved() const { return pseudo_layers() * T * B * rows() * params.hidden_size; }
};

// What the forward leaves in reserve_space.
struct Saved {
  explicit Saved(const Sizes& sizes)
      : values(static_cast<std::size_t>(sizes.saved())), keep(static_cast<std::size_t>(sizes.masks())) {}
  Values values;
  std::vector<std::uint8_t> keep;
};

// Shapes as those of the contract; c of length 0 but for an LSTM.
struct States {
  Values h, c;
};

// saved.keep: the masks. On output y, the last states, and saved.values.
void forward(const Sizes& sizes, const Values& params, const Values& x, const States& first, Saved& saved, Values& y,
             States& last);

// On input the gradients of y and of the last states; on output those of x and of the first states.
void backward_data(const Sizes& sizes, const Values& params, const States& first, const Values& dy, Saved& saved,
                   Values& dx, States& gradient);

// Adds to dparams. `saved` as backward_data leaves it.
void backward_weights(const Sizes& sizes, const Values& x, const States& first, const Saved& saved, Values& dparams);

}  // namespace backgauge::cudnn::standin
