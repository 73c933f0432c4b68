// SPDX-License-Identifier: Apache-2.0
// The readable files of a package: a Markdown summary, and, if every line passed, a certificate and a badge.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace backgauge::cli {

inline constexpr char kSummary[] = "summary.md", kCertificate[] = "certificate.html", kBadge[] = "badge.svg";

// Files by name, made from conformance.json alone.
std::map<std::string, std::string> presentation_of(const nlohmann::ordered_json& conformance);

// What each of them says of it in every version of the templates: implementation, verdict, allowances, scope, terms,
// digests.
std::map<std::string, std::vector<std::string>> facts_of(const nlohmann::ordered_json& conformance);

}  // namespace backgauge::cli
