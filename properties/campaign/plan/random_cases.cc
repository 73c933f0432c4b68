// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/random_cases.h"

#include <span>

#include "properties/campaign/settings/settings.h"

namespace backgauge {
namespace {

constexpr std::int64_t kSteps[] = {1, 2, 3, 5, 7, 13};
constexpr std::int64_t kBatches[] = {1, 2, 3, 5, 7, 11, 17};
constexpr std::int64_t kInputs[] = {1, 2, 3, 5, 7, 11, 13, 19};
constexpr std::int64_t kHidden[] = {1, 2, 3, 5, 7, 11, 13, 17, 23};

// The cost of a case grows with T * B * H * (I + H), and a few of the largest would take most of the time. The last
// value of each list is therefore drawn half as often as the others.
std::int64_t size(std::span<const std::int64_t> from, Draws& draws) {
  const std::int64_t count = static_cast<std::int64_t>(from.size());
  const std::int64_t at = draws.below(2 * count - 1) / 2;
  return from[static_cast<std::size_t>(at)];
}

DataProfile data_profile(const Case& c, Draws& draws) {
  if (draws.once_in(2)) return DataProfile::kStratified;
  const bool stacked = traits_of(c.op).is_stacked, relu = stacked && c.rnn_mode == BACKGAUGE_RNN_RELU;
  const bool bounded = stacked && !relu && c.rnn_mode != BACKGAUGE_LSTM;
  for (;;) {
    const DataProfile data = kDataProfiles[1 + draws.below(static_cast<int>(DataProfile::kGolden) - 1)];
    if (relu && (data == DataProfile::kNan || data == DataProfile::kInf)) continue;
    if (bounded && data == DataProfile::kLarge) continue;
    return data;
  }
}

// Only the rigorous bound applies to these, and it grows with every step.
bool needs_short_sums(DataProfile data) {
  return data == DataProfile::kSaturated || data == DataProfile::kTiny || data == DataProfile::kNan ||
         data == DataProfile::kInf;
}

void draw_lstm(Case& c, Draws& draws) {
  c.use_peephole = draws.once_in(2);
  c.cell_clip = draws.pick<double>({0, 0, 0.5, 1, 3});
  c.data = data_profile(c, draws);
  const bool saturated = c.data == DataProfile::kSaturated;  // needs saturated units and others
  c.B = size(saturated ? std::span(kBatches).subspan(2) : std::span(kBatches), draws);
  c.I = size(kInputs, draws);
  c.H = size(saturated ? std::span(kHidden).subspan(3) : std::span(kHidden), draws);
  if (!traits_of(c.op).has_seq_len_max) return;
  c.T = size(std::span(kSteps).first(needs_short_sums(c.data) ? 3 : 6), draws);
  const std::int64_t kind = draws.below(20);  // 45 % all of T, 5 % none, 10 % one step, the rest in between
  c.seq_len_max = kind < 9 ? c.T : kind < 10 ? 0 : kind < 12 ? 1 : 1 + draws.below(c.T);
}

void draw_stacked(Case& c, Draws& draws) {
  c.rnn_mode = draws.pick({BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU});
  c.direction = draws.pick({BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
  c.input_mode =
      draws.pick({BACKGAUGE_LINEAR_INPUT, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT});
  c.data = data_profile(c, draws);
  const bool few = needs_short_nets(c.data);
  c.T = size(few ? std::span(kSteps).first(2) : std::span(kSteps).first(5), draws);
  c.B = size(few ? std::span(kBatches).subspan(2, 3) : std::span(kBatches).first(5), draws);
  c.H = size(few ? std::span(kHidden).subspan(3, 3) : std::span(kHidden).first(8), draws);
  const bool as_wide =
      c.input_mode == BACKGAUGE_SKIP_INPUT || (c.input_mode == BACKGAUGE_AUTO_SELECT && draws.once_in(2));
  c.I = as_wide ? c.H : size(std::span(kInputs).first(6), draws);
  c.layers = few ? 1 : draws.pick<std::int64_t>({1, 1, 2, 3});
  c.dropout = c.layers > 1 ? draws.pick<double>({0, 0, 0.25, 0.5, 1}) : 0;
}

}  // namespace

Case random_case(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  Case c{.op = op, .dtype = dtype};
  if (traits_of(op).is_stacked) {
    draw_stacked(c, draws);
  } else {
    draw_lstm(c, draws);
  }
  c.seed = draws.seed();
  return c;
}

}  // namespace backgauge
