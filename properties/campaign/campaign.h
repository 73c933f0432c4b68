// SPDX-License-Identifier: Apache-2.0
// Which cases a tier consists of: a pure function of tier, ops and seed, in a fixed order.
//
// Enumerated for every op and dtype: peepholes off and on, or mode x direction x input mode; every data class; the edge
// shapes. Drawn for each of them: dims, seq_len_max, layers, dropout, clip, and the seed of the values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/case/case.h"

namespace backgauge {

enum class Tier {
  kSmoke,  // every op, dtype and mode once, in seconds
  kCi      // the gate of every change
};
std::string_view tier_word(Tier tier);
std::optional<Tier> parse_tier(std::string_view word);

struct Campaign {
  Tier tier = Tier::kCi;
  std::uint64_t seed = 1;
  std::vector<backgauge_op> ops;  // gradient ops
};

std::vector<Case> plan(const Campaign& campaign);

// What a list of cases covers: for each axis of an op its values and how many cases have them, values that no case has
// included.
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> values;
};
std::vector<Axis> coverage(backgauge_op op, const std::vector<Case>& cases);

}  // namespace backgauge
