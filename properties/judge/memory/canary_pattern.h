// SPDX-License-Identifier: Apache-2.0
// The content of arena memory that has not been written: a pattern of 8 bytes, repeated in both directions from an
// origin. No result looks like it, so that an element that was never written is recognized.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge {

using Pattern = std::uint64_t;

// A quiet NaN of the format that has `unit` bytes (2, 4, 8) with a payload of 8 bits, repeated. Arithmetic keeps the
// payload of its first NaN operand, so different payloads stay different.
Pattern nan_pattern(std::size_t unit, std::uint8_t payload);

void lay_pattern(Pattern pattern, std::byte* begin, std::byte* end, const std::byte* origin);

// The first and the last byte of [begin, end) that differ from the pattern; nullptr if none does.
const std::byte* first_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                  const std::byte* origin);
const std::byte* last_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                 const std::byte* origin);

}  // namespace backgauge
