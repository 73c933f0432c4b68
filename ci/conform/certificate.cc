// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/certificate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ci/run/outcome/template.h"
#include "ci/templates.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

// Mean width of a letter of Verdana at 11 px, 7 px, and the margin of a badge on each side.
int width_of(const std::string& text) { return static_cast<int>(text.size()) * 7 + 12; }

std::size_t waived_lines(const Json& conformance) {
  std::size_t out = 0;
  for (const Json& each : conformance.at("waivers")) out += each.at("lines").get<std::size_t>();
  return out;
}

Json badge_values(const Json& conformance) {
  const std::size_t waived = waived_lines(conformance);
  const std::string left = fmt::format("backgauge {}", conformance.at("mustpass").at("version").get<std::string>());
  std::string right = conformance.at("scope");
  if (const std::string allowed = conformance.at("allowances"); !allowed.empty()) right += ", " + allowed;
  if (waived > 0) right += fmt::format(", {} waived", waived);
  const int first = width_of(left), second = width_of(right);
  return {{"left", left},
          {"right", right},
          {"first", first},
          {"second", second},
          {"width", first + second},
          {"middle_of_first", first / 2},
          {"middle_of_second", first + second / 2},
          // White on these has a contrast of at least 4.5.
          {"color", waived == 0 ? "#0b6b2c" : "#8a5700"}};
}

}  // namespace

std::map<std::string, std::string> presentation_of(const Json& conformance) {
  Json values = conformance;
  const bool conforms = conformance.at("conforms").get<bool>();
  const bool waived = !conformance.at("waivers").empty();
  values["style"] = templates::kStyle;
  values["color"] = !conforms ? "bad" : waived ? "unsure" : "good";
  values["sign"] = !conforms ? "❌" : waived ? "⚠️" : "✅";
  std::map<std::string, std::string> out;
  out[kSummary] = rendered(templates::kConformanceSummary, values, Escape::kMarkdown);
  if (!conforms) return out;
  out[kCertificate] = rendered(templates::kCertificatePage, values, Escape::kHtml);
  out[kBadge] = rendered(templates::kBadge, badge_values(conformance), Escape::kHtml);
  return out;
}

std::map<std::string, std::vector<std::string>> facts_of(const Json& conformance) {
  const auto in_words = [&](Escape escape) {
    std::vector<std::string> out;
    for (const char* fact : {"{{implementation.name}} {{implementation.version}}",
                             "{{verdict}} to backgauge {{mustpass.version}}", "{{allowances}}", "{{scope}}"}) {
      out.push_back(rendered(fact, conformance, escape));
    }
    for (const Json& terms : conformance.at("terms")) out.push_back(rendered("{{op}}: {{text}}", terms, escape));
    return out;
  };
  std::map<std::string, std::vector<std::string>> out{{kSummary, in_words(Escape::kMarkdown)},
                                                      {kCertificate, in_words(Escape::kHtml)}};
  for (const char* digest : {"{{mustpass.digest}}", "{{records}}"}) {
    out[kCertificate].push_back(rendered(digest, conformance, Escape::kHtml));
  }
  out[kBadge] = {rendered("<title>{{left}}: {{right}}</title>", badge_values(conformance), Escape::kHtml)};
  return out;
}

}  // namespace backgauge::cli
