// SPDX-License-Identifier: Apache-2.0
// Integers of JSON documents that may come from elsewhere.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace backgauge {

// Throws std::invalid_argument for fractions and for numbers out of range; the library would convert both.
template <class Integer, class Json>
Integer integer_of(const Json& json) {
  if (json.is_number_unsigned()) {
    if (const auto value = json.template get<std::uint64_t>(); std::in_range<Integer>(value)) {
      return static_cast<Integer>(value);
    }
  } else if (json.is_number_integer()) {
    if (const auto value = json.template get<std::int64_t>(); std::in_range<Integer>(value)) {
      return static_cast<Integer>(value);
    }
  }
  throw std::invalid_argument(json.dump() + " is not an integer, or too large");
}

template <class Integer, class Json>
void read_integer(const Json& json, Integer& to) {
  to = integer_of<Integer>(json);
}

template <class Integer, class Json>
std::vector<Integer> integers_of(const Json& json) {
  if (!json.is_array()) throw std::invalid_argument(json.dump() + " is not an array");
  std::vector<Integer> out;
  for (const Json& element : json) out.push_back(integer_of<Integer>(element));
  return out;
}

}  // namespace backgauge
