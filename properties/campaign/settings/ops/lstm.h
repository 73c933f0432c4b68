// SPDX-License-Identifier: Apache-2.0
// What the two LSTM ops have in common.
#pragma once

#include "properties/campaign/settings/ops/entry.h"

namespace backgauge::setting_ops {

std::vector<Setting> lstm_settings();
bool is_legal_lstm(const RowReader& row);
bool lstm_needs_evidence(DataProfile data);
void draw_lstm(const RowReader& row, Draws& draws, Case& c);

}  // namespace backgauge::setting_ops
