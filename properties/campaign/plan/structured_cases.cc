// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/structured_cases.h"

#include "properties/campaign/settings/modes.h"
#include "properties/case/draw/structures.h"

namespace backgauge {
namespace {

constexpr DataProfile kStructured[] = {DataProfile::kBlank, DataProfile::kAlike, DataProfile::kExact,
                                       DataProfile::kLone};

// Shapes take turns by k: one in which all sizes differ, one in which I = H.
void choose_lstm(Case& c, std::size_t k) {
  c.use_peephole = k % 4 != 3;
  c.cell_clip = k % 2 == 0 ? 0 : 0.5;
  c.B = 3, c.H = 5;
  c.I = k % 2 == 0 && c.data != DataProfile::kAlike ? 4 : 5;  // x and h_prev may be alike
  if (!traits_of(c.op).has_seq_len_max) return;
  // Only the rigorous bound applies to the other profiles. It grows with steps, fastest if every operation rounds to
  // half.
  c.T = c.data == DataProfile::kBlank ? 4 : 3;
  c.seq_len_max = c.data == DataProfile::kBlank ? 3 + static_cast<std::int64_t>(k % 2) : 2;
}

void choose_stacked(Case& c, backgauge_rnn_mode mode, std::size_t k) {
  // Layers make that bound grow too.
  const bool deep = c.data == DataProfile::kBlank || k % 3 == 2;
  c.rnn_mode = mode;
  c.direction = k % 4 == 3 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL;
  c.input_mode = k % 5 == 4 ? BACKGAUGE_SKIP_INPUT : BACKGAUGE_LINEAR_INPUT;
  c.T = c.data == DataProfile::kBlank ? 3 : 2, c.B = 3, c.H = 5;
  c.I = c.input_mode == BACKGAUGE_SKIP_INPUT || k % 2 == 1 ? 5 : 4;
  c.layers = deep ? 2 : 1;
}

}  // namespace

std::vector<Case> structured_cases(backgauge_op op, const Dtypes& dtypes, bool thorough, Draws& draws) {
  std::vector<Case> out;
  const bool stacked = traits_of(op).is_stacked;
  // LSTM ops: both shapes with each dtype; cases with and without peepholes alternate over the dtypes.
  const std::size_t variants = stacked ? kModesByUse.size() : 2;
  for (const DataProfile data : kStructured) {
    const std::size_t count = structures_of(op, data).size();
    for (std::size_t number = 0; number < count; ++number) {
      // In a smoke tier one case is an LSTM, which has every tensor.
      const std::size_t all = thorough ? dtypes.size() * variants : stacked ? 2 : 1;
      for (std::size_t k = 0; k < all; ++k) {
        Case c{.op = op, .dtype = dtypes[(thorough ? k : number + k) % dtypes.size()], .data = data};
        if (stacked) {
          const std::size_t mode = thorough ? k / dtypes.size() : k == 0 ? 0 : 1 + number % (variants - 1);
          choose_stacked(c, kModesByUse[mode], number + k);
        } else {
          choose_lstm(c, thorough ? k / dtypes.size() + 2 * k : 0);
        }
        c.seed = number;
        c.seed = seed_of_same_structure(c, draws.seed());
        out.push_back(std::move(c));
      }
    }
  }
  return out;
}

}  // namespace backgauge
