// SPDX-License-Identifier: Apache-2.0
// Which cases a tier consists of: a pure function of tier, ops and seed. What it is made of: README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "properties/case/case.h"

namespace backgauge {

enum class Tier {
  kSmoke,  // every pair of settings, in seconds
  kCi,     // the gate of every change, in about a minute
  kFull    // ten times as much, and what is large
};
std::string_view tier_word(Tier tier);
std::optional<Tier> parse_tier(std::string_view word);
inline constexpr std::string_view kTierWords = "smoke, ci or full";

struct Campaign {
  Tier tier = Tier::kCi;
  std::uint64_t seed = 1;
  std::vector<backgauge_op> ops;  // gradient ops
};

// In the order in which they are to run: shuffled, so that neighbours differ in op, size, flags and direction, which
// shows state that an implementation keeps between calls.
std::vector<Case> plan(const Campaign& campaign);

}  // namespace backgauge
