// SPDX-License-Identifier: Apache-2.0
// The door for JSON that somebody else may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace backgauge {

// The documents of this project nest to 7. A library that copies or prints a deep one recursively runs out of stack.
inline constexpr int kDeepestJson = 64;
// A hundred times the largest that this project writes in one document.
inline constexpr std::size_t kLongestJson = std::size_t{256} << 20;

// Throws std::exception for what is not JSON, too long, too deep, or has a key twice in one object: some programs would
// read the first, and some the last.
template <class Json>
Json parse_json(std::string_view text) {
  if (text.size() > kLongestJson) throw std::invalid_argument("JSON of more than 256 MiB");
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&keys](int depth, typename Json::parse_event_t event, Json& parsed) {
    using Event = typename Json::parse_event_t;
    if (depth >= kDeepestJson) throw std::invalid_argument("JSON nested more than 64 deep");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.template get<std::string>()).second) {
      throw std::invalid_argument("JSON with a duplicate key: " +
                                  parsed.dump(-1, ' ', true, Json::error_handler_t::replace));
    }
    return true;
  };
  return Json::parse(text, watch);
}

}  // namespace backgauge
