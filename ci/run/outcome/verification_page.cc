// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/verification_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ci/run/outcome/template.h"
#include "ci/templates.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kKindsOfMarkdown = 4;  // as many as on a screen: failures.h

std::string color_of(const std::string& word) {
  if (word == "PASSED") return "good";
  return word == "FAILED" || word == "BROKEN" ? "bad" : "unsure";
}

Json matrix(const char* heading, const Json& tables) { return {{"heading", heading}, {"tables", tables}}; }

}  // namespace

std::string html_page(const Json& verification) {
  Json values = verification;
  values["color"] = color_of(verification.at("verdict").at("word"));
  values["style"] = templates::kStyle;
  values["matrices"] = {matrix("Modes and features", verification.at("features")),
                        matrix("Data profiles", verification.at("profiles"))};
  return rendered(templates::kVerificationPage, values, Escape::kHtml);
}

std::string markdown_summary(const Json& verification) {
  Json values = verification;
  const std::string color = color_of(verification.at("verdict").at("word"));
  values["sign"] = color == "good" ? "✅" : color == "bad" ? "❌" : "⚠️";
  Json& kinds = values["kinds"];
  values["more"] = Json::array();
  while (kinds.size() > kKindsOfMarkdown) {
    values["more"].insert(values["more"].begin(), kinds.back());
    kinds.erase(kinds.size() - 1);
  }
  return rendered(templates::kVerificationSummary, values, Escape::kMarkdown);
}

}  // namespace backgauge::cli
