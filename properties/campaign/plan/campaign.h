// SPDX-License-Identifier: Apache-2.0
// The cases of a tier: a pure function of tier, ops and seed. README.md lists the kinds of cases.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

enum class Tier {
  kSmoke,  // every pair of settings, in seconds
  kCi,     // run on every change, in about a minute
  kFull    // ten times as many, and large cases
};
std::string_view tier_word(Tier tier);
std::optional<Tier> parse_tier(std::string_view word);
inline constexpr std::string_view kTierWords = "smoke, ci or full";

struct Campaign {
  Tier tier = Tier::kCi;
  std::uint64_t seed = 1;
  std::vector<backgauge_op> ops;  // gradient ops
};

// In running order. The cases are shuffled so that neighbours differ in op, size, flags and direction; this reveals
// state that an implementation keeps between calls.
std::vector<Case> plan(const Campaign& campaign);

}  // namespace backgauge
