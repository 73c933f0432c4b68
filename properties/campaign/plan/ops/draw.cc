// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/ops/draw.h"

namespace backgauge::plan_ops {

std::int64_t draw_size(std::span<const std::int64_t> from, Draws& draws) {
  const std::int64_t count = static_cast<std::int64_t>(from.size());
  const std::int64_t at = draws.below(2 * count - 1) / 2;
  return from[static_cast<std::size_t>(at)];
}

DataProfile draw_data_profile(const Case& c, Draws& draws) {
  if (draws.once_in(2)) return DataProfile::kStratified;
  const bool relu = c.rnn_mode == BACKGAUGE_RNN_RELU, bounded = !relu && c.rnn_mode != BACKGAUGE_LSTM;
  for (;;) {
    const DataProfile data = kDataProfiles[1 + draws.below(static_cast<int>(DataProfile::kGolden) - 1)];
    if (relu && (data == DataProfile::kNan || data == DataProfile::kInf)) continue;
    if (bounded && data == DataProfile::kLarge) continue;
    return data;
  }
}

}  // namespace backgauge::plan_ops
