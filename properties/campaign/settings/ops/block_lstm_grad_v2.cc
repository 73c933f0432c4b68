// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/campaign/settings/ops/lstm.h"

namespace backgauge::setting_ops {
namespace {

int seq_len_max_of(const Case& c) {
  return c.T == 0 ? kUnset : c.seq_len_max == c.T ? 3 : static_cast<int>(std::min<std::int64_t>(c.seq_len_max, 2));
}

std::vector<Setting> block_settings() {
  std::vector<Setting> out = lstm_settings();
  out.push_back(steps_setting());
  out.push_back({"seq_len_max", {"0", "1", "2..T-1", "T"}, seq_len_max_of});
  return out;
}

bool is_legal_block(const RowReader& row) {
  if (!is_legal_lstm(row)) return false;
  if (row.is("T", "1") && (row.is("seq_len_max", "1") || row.is("seq_len_max", "2..T-1"))) return false;  // that is T
  if (row.is("T", "2") && row.is("seq_len_max", "2..T-1")) return false;
  return !row.is("seq_len_max", "0") || !row.is_other("data", "strat");  // nothing is read
}

std::int64_t draw_seq_len_max(const RowReader& row, std::int64_t T, Draws& draws) {
  if (row.is("seq_len_max", "T")) return T;
  return row.position("seq_len_max") < 2 ? row.position("seq_len_max") : 2 + draws.below(T - 2);
}

void draw_block(const RowReader& row, Draws& draws, Case& c) {
  c.T = draw_steps(row, c.data, draws);
  draw_lstm(row, draws, c);
  c.seq_len_max = draw_seq_len_max(row, c.T, draws);
}

void vary_seq_len_max(Case& c) { c.seq_len_max = c.seq_len_max > 1 ? c.seq_len_max - 1 : c.T; }

}  // namespace

const Entry kBlockLstmGradV2{block_settings, is_legal_block, lstm_needs_evidence, draw_block, vary_seq_len_max};

}  // namespace backgauge::setting_ops
