// SPDX-License-Identifier: Apache-2.0
// Offsets of the flat params buffer. reference/semantics.md 4.2 and 4.3.
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

// Elements of all gates of one matrix.
std::int64_t input_matrices(const RnnParams& p, std::int64_t layer) {
  return p.gates * p.hidden_size * p.matrix_input(layer);
}

std::int64_t recurrent_matrices(const RnnParams& p) { return p.gates * p.hidden_size * p.hidden_size; }

// The offset of the matrices of a pseudo-layer. Only layer 0 has a different width.
std::int64_t matrices_before(const RnnParams& p, std::int64_t layer, std::int64_t direction) {
  const std::int64_t first = input_matrices(p, 0) + recurrent_matrices(p);
  if (layer == 0) return direction * first;
  const std::int64_t later = input_matrices(p, layer) + recurrent_matrices(p);
  return p.directions * first + ((layer - 1) * p.directions + direction) * later;
}

}  // namespace

std::int64_t RnnParams::W(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return matrices_before(*this, layer, direction) + gate * hidden_size * matrix_input(layer);
}

std::int64_t RnnParams::R(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return matrices_before(*this, layer, direction) + input_matrices(*this, layer) + gate * hidden_size * hidden_size;
}

std::int64_t RnnParams::bW(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return matrices() + ((layer * directions + direction) * 2 * gates + gate) * hidden_size;
}

std::int64_t RnnParams::bR(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return bW(layer, direction, gates + gate);
}

std::int64_t RnnParams::matrices() const { return matrices_before(*this, layers, 0); }

std::int64_t RnnParams::size() const { return matrices() + layers * directions * 2 * gates * hidden_size; }

std::int64_t rnn_gates(std::int32_t rnn_mode) {
  switch (rnn_mode) {
    case BACKGAUGE_RNN_RELU:
    case BACKGAUGE_RNN_TANH: return 1;
    case BACKGAUGE_LSTM: return 4;
    case BACKGAUGE_GRU: return 3;
    default: return 0;
  }
}

bool resolves_to_skip(std::int32_t input_mode, std::int64_t I, std::int64_t H) {
  return input_mode == BACKGAUGE_SKIP_INPUT || (input_mode == BACKGAUGE_AUTO_SELECT && I == H);
}

RnnParams rnn_params(const backgauge_attributes& attributes, std::int64_t I, std::int64_t H, std::int64_t L) {
  return {.layers = L,
          .directions = attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1,
          .gates = rnn_gates(attributes.rnn_mode),
          .input_size = I,
          .hidden_size = H,
          .skip_input = resolves_to_skip(attributes.input_mode, I, H)};
}

std::optional<std::int64_t> checked_size(const RnnParams& layout) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  bool overflow = false;
  const auto product = [&overflow](std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    overflow |= __builtin_mul_overflow(a, b, &result);
    return result;
  };
  const auto sum = [&overflow](std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    overflow |= __builtin_add_overflow(a, b, &result);
    return result;
  };
  const auto pseudo_layer = [&](std::int64_t input) {  // matrices and both biases
    return product(product(layout.gates, layout.hidden_size), sum(sum(input, layout.hidden_size), 2));
  };
  const std::int64_t first = pseudo_layer(layout.skip_input ? 0 : layout.input_size);
  const std::int64_t later = product(layout.layers - 1, pseudo_layer(product(layout.directions, layout.hidden_size)));
  const std::int64_t size = product(layout.directions, sum(first, later));
  if (overflow || size > kLargest) return std::nullopt;
  return size;
}

}  // namespace backgauge
