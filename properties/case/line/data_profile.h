// SPDX-License-Identifier: Apache-2.0
// The data profiles: rules by which the values of a case are chosen.
#pragma once

#include <string_view>

namespace backgauge {

enum class DataProfile {
#define BACKGAUGE_DATA_PROFILE(name, word) name,
#include "properties/case/line/data_profiles.inc"
#undef BACKGAUGE_DATA_PROFILE
};

// All of them, in the order of data_profiles.inc.
inline constexpr DataProfile kDataProfiles[] = {
#define BACKGAUGE_DATA_PROFILE(name, word) DataProfile::name,
#include "properties/case/line/data_profiles.inc"
#undef BACKGAUGE_DATA_PROFILE
};

// The word of case lines, such as "strat".
constexpr std::string_view data_profile_word(DataProfile profile) {
  constexpr std::string_view kWords[] = {
#define BACKGAUGE_DATA_PROFILE(name, word) word,
#include "properties/case/line/data_profiles.inc"
#undef BACKGAUGE_DATA_PROFILE
  };
  return kWords[static_cast<int>(profile)];
}

}  // namespace backgauge
