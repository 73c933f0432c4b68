// SPDX-License-Identifier: Apache-2.0
// The words of a case line after op and dims, one rule for each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

inline constexpr std::int64_t kLargestDimension = INT32_MAX;  // the largest size that every tested library supports

// A decimal number from 0 to kLargestDimension, and nothing else.
bool parse_count(std::string_view text, std::int64_t& number);

struct WordRule {
  std::string_view key;
  std::function<bool(const OpTraits&)> belongs_to;
  bool required;
  std::function<std::string(std::string_view value, Case&)> parse;  // "" or what was expected
  std::function<std::string(const Case&)> print;                    // the value, or "" if the line leaves the word out
};

// In the order of canonical lines.
const std::vector<WordRule>& word_rules();

}  // namespace backgauge
