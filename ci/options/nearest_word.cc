// SPDX-License-Identifier: Apache-2.0
#include "ci/options/nearest_word.h"

#include <algorithm>
#include <numeric>

namespace backgauge::cli {
namespace {

// Levenshtein distance, row by row.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Both words need three letters: shorter ones are the beginning of too many others.
bool is_abbreviation(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= 3 && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& each : words) {
    const std::size_t distance = is_abbreviation(word, each) ? 0 : edits(word, each);
    if (distance >= least) continue;
    least = distance;
    nearest = each;
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace backgauge::cli
