// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace backgauge {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with a character of UTF-8
};

// RFC 3629: the shortest form only, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    const auto next = static_cast<unsigned char>(text[k]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Zero-width characters, line separators and writing directions (Unicode's category Cf in general punctuation), the
// byte order mark, and the noncharacters.
bool is_invisible(std::uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe;
}

std::string shown(std::string_view text, const Character& c, Newlines newlines) {
  if (c.bytes == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
  if (c.code == '\n') return newlines == Newlines::kKept ? "\n" : "\\n";
  if (c.code == '\t') return "\\t";
  if (is_control(c.code)) return fmt::format("\\x{:02x}", c.code);
  if (is_invisible(c.code)) return fmt::format("\\u{:04x}", c.code);
  return std::string(text.substr(0, c.bytes));
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t most, Newlines newlines) {
  constexpr std::string_view kMore = "...";
  std::string out;
  std::size_t fitting = 0;  // the length of `out` that leaves room for kMore
  while (!bytes.empty()) {
    const Character c = first_character(bytes);
    out += shown(bytes, c, newlines);
    if (out.size() > most) return out.substr(0, fitting).append(kMore);
    if (out.size() + kMore.size() <= most) fitting = out.size();
    bytes.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return out;
}

}  // namespace backgauge
