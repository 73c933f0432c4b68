// SPDX-License-Identifier: Apache-2.0
// A line of a file of JSON lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace backgauge {

// Bytes that are not UTF-8 are replaced: implementations write what they like into their messages.
inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace backgauge
