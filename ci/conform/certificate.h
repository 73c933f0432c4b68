// SPDX-License-Identifier: Apache-2.0
// The readable files of a package: a Markdown summary, and, if every line passed, a certificate and a badge.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace backgauge::cli {

inline constexpr char kCertificate[] = "certificate.html", kBadge[] = "badge.svg";

// Files by name, made from conformance.json alone.
std::map<std::string, std::string> presentation_of(const nlohmann::ordered_json& conformance);

}  // namespace backgauge::cli
