// SPDX-License-Identifier: Apache-2.0
// Suggests what a mistyped word was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backgauge::cli {

// "; did you mean verify?" with the word most like `word`: one that begins with it or that it begins with, or else one
// of which at most a third of the letters differ (insertions, deletions, replacements). "" if there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

}  // namespace backgauge::cli
