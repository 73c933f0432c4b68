// SPDX-License-Identifier: Apache-2.0
// Mustache templates over JSON. In a template, {{key}} is escaped, {{{key}}} is not; {{#key}} repeats its text for each
// element of an array, and {{#has_key}} tests whether the array or text `key` is not empty.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace backgauge::cli {

enum class Escape {
  kHtml,
  kMarkdown  // for prose and cells of tables. Texts cannot end a fenced block of code: their ``` become '''
};

// Throws std::logic_error for a template that is malformed.
std::string rendered(const std::string& text, const nlohmann::ordered_json& values, Escape escape);

}  // namespace backgauge::cli
