// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/canary_pattern.h"

#include <algorithm>
#include <cstring>

namespace backgauge {
namespace {

constexpr std::ptrdiff_t kPeriod = sizeof(Pattern);

std::byte byte_at(Pattern pattern, const std::byte* at, const std::byte* origin) {
  std::byte bytes[kPeriod];
  std::memcpy(bytes, &pattern, sizeof bytes);
  return bytes[((at - origin) % kPeriod + kPeriod) % kPeriod];
}

// Checks whole ranges with memcmp: the first period matches, and each byte equals the one a period before it.
bool intact(Pattern pattern, const std::byte* begin, const std::byte* end, const std::byte* origin) {
  const std::byte* seed = begin + std::min(kPeriod, end - begin);
  for (const std::byte* at = begin; at < seed; ++at) {
    if (*at != byte_at(pattern, at, origin)) return false;
  }
  return std::memcmp(begin, seed, static_cast<std::size_t>(end - seed)) == 0;
}

}  // namespace

Pattern nan_pattern(std::size_t unit, std::uint8_t payload) {
  const Pattern p = payload;
  switch (unit) {
    case 2: return (0x7e00 | p) * 0x0001000100010001;
    case 4: return (0x7fc00000 | p << 8 | p) * 0x0000000100000001;
    default: return 0x7ff8000000000000 | p << 32 | p;
  }
}

void lay_pattern(Pattern pattern, std::byte* begin, std::byte* end, const std::byte* origin) {
  std::byte* laid = begin;
  for (; laid < end && laid < begin + kPeriod; ++laid) *laid = byte_at(pattern, laid, origin);
  while (laid < end) {  // doubles what is there, by whole periods
    const std::ptrdiff_t more = std::min(laid - begin, end - laid);
    std::memcpy(laid, begin, static_cast<std::size_t>(more));
    laid += more;
  }
}

const std::byte* first_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                  const std::byte* origin) {
  if (intact(pattern, begin, end, origin)) return nullptr;
  return std::find_if(begin, end, [&](const std::byte& b) { return b != byte_at(pattern, &b, origin); });
}

const std::byte* last_difference(Pattern pattern, const std::byte* begin, const std::byte* end,
                                 const std::byte* origin) {
  if (intact(pattern, begin, end, origin)) return nullptr;
  const std::byte* at = end - 1;
  while (*at == byte_at(pattern, at, origin)) --at;
  return at;
}

}  // namespace backgauge
