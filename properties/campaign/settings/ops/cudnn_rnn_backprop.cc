// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/ops/entry.h"
#include "properties/campaign/settings/values.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::setting_ops {
namespace {

constexpr backgauge_rnn_mode kModes[] = {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU};
constexpr backgauge_direction kDirections[] = {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL};
constexpr backgauge_input_mode kInputModes[] = {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT};

int mode_of(const Case& c) { return index_in(kModes, c.rnn_mode); }
int direction_of(const Case& c) { return index_in(kDirections, c.direction); }
int input_of(const Case& c) { return index_in(kInputModes, c.input_mode); }
int layers_of(const Case& c) { return c.layers >= 1 && c.layers <= 3 ? static_cast<int>(c.layers) - 1 : kUnset; }
int dropout_of(const Case& c) { return c.dropout == 0 ? 0 : c.dropout == 1 ? 2 : 1; }

std::vector<Setting> stacked_settings() {
  return {{"mode", words_of(kModes, rnn_mode_word), mode_of},
          {"direction", words_of(kDirections, direction_word), direction_of},
          {"input", words_of(kInputModes, input_mode_word), input_of},
          {"layers", {"1", "2", "3"}, layers_of},
          {"dropout", {"0", "between", "1"}, dropout_of},
          steps_setting()};
}

bool needs_short_nets_of(const RowReader& row) {
  return row.position("data") != kUnset && needs_short_nets(kDistinguishedProfiles[row.position("data")]);
}

bool is_legal_stacked(const RowReader& row) {
  // semantics.md 8: the result of a relu for NaN is not defined.
  if (row.is("mode", "relu") && (row.is("data", "nan") || row.is("data", "inf"))) return false;
  // States of these are below 1; larger ones saturate everything, and all gradients vanish.
  if (row.is("data", "large") && (row.is("mode", "tanh") || row.is("mode", "gru"))) return false;
  if (row.is("input", "skip") && row.is_other("I", "=H")) return false;
  if (!needs_short_nets_of(row)) return true;
  // In these profiles a few rows and units are special; the others carry the evidence.
  return !row.is_other("layers", "1") && !row.is("T", "3..") && !row.is_other("B", "2..7") && !row.is("H", "1");
}

void draw_stacked(const RowReader& row, Draws& draws, Case& c) {
  c.T = draw_steps(row, c.data, draws);
  c.rnn_mode = kModes[row.position("mode")];
  c.direction = kDirections[row.position("direction")];
  c.input_mode = kInputModes[row.position("input")];
  c.layers = 1 + row.position("layers");
  c.dropout = row.is("dropout", "0") ? 0 : row.is("dropout", "1") ? 1 : draws.pick(kDropouts);
}

void vary_mode(Case& c) {
  if (rnn_gates(c.rnn_mode) > 1) return vary_batch(c);  // no other mode has as many
  c.rnn_mode = c.rnn_mode == BACKGAUGE_RNN_TANH ? BACKGAUGE_RNN_RELU : BACKGAUGE_RNN_TANH;
}

}  // namespace

const Entry kCudnnRnnBackprop{stacked_settings, is_legal_stacked, needs_short_nets, draw_stacked, vary_mode};

}  // namespace backgauge::setting_ops
