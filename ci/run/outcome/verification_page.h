// SPDX-License-Identifier: Apache-2.0
// A finished run for people: one offline page, and the same in short as Markdown for a pull request. Both are made from
// the data of verification.h by the templates in templates/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace backgauge::cli {

std::string html_page(const nlohmann::ordered_json& verification);
std::string markdown_summary(const nlohmann::ordered_json& verification);

}  // namespace backgauge::cli
