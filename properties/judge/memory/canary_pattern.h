// SPDX-License-Identifier: Apache-2.0
// What memory of an arena holds where nobody has written: patterns of 8 bytes, repeated from an origin on in both
// directions, so that an element that is never written can be told from any result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge {

using Pattern = std::uint64_t;

// A quiet NaN of the format that has `unit` bytes (2, 4, 8) with a payload of 8 bits, repeated. Arithmetic keeps the
// payload of its first NaN operand, so different payloads stay different.
Pattern nan_pattern(std::size_t unit, std::uint8_t payload);

void lay_pattern(Pattern pattern, std::byte* begin, std::byte* end, const std::byte* origin);

// The first byte of [begin, end) that differs, seen from the front or from the back; nullptr if none does.
const std::byte* first_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                  const std::byte* origin);
const std::byte* last_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                 const std::byte* origin);

}  // namespace backgauge
