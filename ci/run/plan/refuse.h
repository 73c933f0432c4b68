// SPDX-License-Identifier: Apache-2.0
// Reports bad user input: one exception, one form of message.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "reference/contract/op_spec.h"

namespace backgauge::cli {

// Throws std::invalid_argument with the formatted text.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

// The enumerator for which `word_of` (op_spec.h) returns `word`. Refuses any other word, by the name of the field and
// with a list of the known words.
inline std::int32_t enumerator_named(std::string_view field, std::string_view (*word_of)(std::int32_t),
                                     std::string_view word) {
  const std::int32_t enumerator = enumerator_of(word_of, word);
  if (enumerator == 0) refuse("{}: expected one of {}, got {}", field, words_in(word_of), word);
  return enumerator;
}

}  // namespace backgauge::cli
