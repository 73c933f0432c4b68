// SPDX-License-Identifier: Apache-2.0
// Values of settings and their positions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "properties/case/line/data_profile.h"

namespace backgauge {

// The values of the setting data, in this order. Those from kBlank on are in an array of their own: drawn_factors().
inline constexpr DataProfile kDistinguishedProfiles[] = {
    DataProfile::kStratified, DataProfile::kSaturated, DataProfile::kLinear, DataProfile::kLarge,
    DataProfile::kZeros,      DataProfile::kTiny,      DataProfile::kHuge,   DataProfile::kScales,
    DataProfile::kConstant,   DataProfile::kNan,       DataProfile::kInf,    DataProfile::kBlank,
    DataProfile::kAlike,      DataProfile::kExact,     DataProfile::kLone};
inline constexpr int kDrawnProfiles = 11;
static_assert(kDistinguishedProfiles[kDrawnProfiles] == DataProfile::kBlank);

// Probabilities of dropout. With most of them 1 / (1 - p) has to be rounded, so that a scale from a table or from a
// byte shows; 1/4 and 1/2 are exact, and the last one drops nearly all. Each is the shortest text of its float.
inline constexpr double kDropouts[] = {0.1, 0.2, 0.25, 0.3, 0.33333334, 0.5, 0.9};

template <class Values>
int index_in(const Values& values, std::ranges::range_value_t<Values> value) {
  return static_cast<int>(std::ranges::find(values, value) - std::begin(values));
}

template <class Values>
std::vector<std::string_view> words_of(const Values& values, auto* word_of) {
  std::vector<std::string_view> out;
  for (const auto value : values) out.push_back(word_of(value));
  return out;
}

}  // namespace backgauge
