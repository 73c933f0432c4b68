// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/ops/lstm.h"

namespace backgauge::setting_ops {
namespace {

int peephole_of(const Case& c) { return c.use_peephole ? 1 : 0; }
// Saved states are of order 1, so that a limit of 3 is above nearly all of them.
int clip_of(const Case& c) { return c.cell_clip <= 0 ? 0 : c.cell_clip <= 1 ? 1 : 2; }

}  // namespace

std::vector<Setting> lstm_settings() {
  return {{"peephole", {"off", "on"}, peephole_of}, {"clip", {"none", "..1", "1.."}, clip_of}};
}

bool is_legal_lstm(const RowReader& row) {
  // Needs saturated units and others: of a single row or unit, all or nothing is saturated.
  return !row.is("data", "saturated") || !(row.is("B", "1") || row.is("H", "1"));
}

bool lstm_needs_evidence(DataProfile data) { return data == DataProfile::kSaturated; }

void draw_lstm(const RowReader& row, Draws& draws, Case& c) {
  c.use_peephole = row.is("peephole", "on");
  c.cell_clip = row.is("clip", "none") ? 0 : row.is("clip", "1..") ? 3 : draws.pick({0.5, 1.0});
}

}  // namespace backgauge::setting_ops
