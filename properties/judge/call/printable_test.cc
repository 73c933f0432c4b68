// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace backgauge {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "plain 1.0 (x=3)", "a\\nb \"quoted\" 'so'", "größer, 数, 🙂", "no\u00a0break"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("a\rb\nc\td\a\x7f"), "a\\x0db\\nc\\td\\x07\\x7f");
  EXPECT_EQ(printable("x\0y"s), "x\\x00y");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");  // C1: one character that begins an escape sequence
}

TEST(Printable, EscapesWhatCannotBeSeen) {
  EXPECT_EQ(printable("safe\u202egnp.exe"), "safe\\u202egnp.exe");
  EXPECT_EQ(printable("\ufeffa\u2028b\u200bc\uffff"), "\\ufeffa\\u2028b\\u200bc\\uffff");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // not the shortest form
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("cut \xe2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(printable("\xe2(\xa1"), "\\xe2(\\xa1");
}

TEST(Printable, KeepsNewlinesOnlyWhereAsked) {
  EXPECT_EQ(printable("a\nb", 100, Newlines::kKept), "a\nb");
  EXPECT_EQ(printable("a\r\nb", 100, Newlines::kKept), "a\\x0d\nb");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("0123456789", 10), "0123456789");
  EXPECT_EQ(printable("0123456789A", 10), "0123456...");
  EXPECT_EQ(printable("€€€€", 10), "€€...");
  EXPECT_EQ(printable("12345\x1b\x1b", 10), "12345...");
  EXPECT_EQ(printable("abcd", 3), "...");
  EXPECT_EQ(printable(std::string(1 << 20, 'a')).size(), kShownOfReason);
}

// All texts of three bytes, chosen from bytes that begin, continue and end a character.
TEST(Printable, IsAlwaysFitForJsonAndStaysAsItIs) {
  const std::string bytes("\0\n\x1b\x7f a\\\x80\x9b\xbf\xc2\xe2\xef\xf0\xff"s);
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        const std::string once = printable(std::string{a, b, c});
        EXPECT_NO_THROW((void)nlohmann::json(once).dump());
        EXPECT_EQ(printable(once), once);
        EXPECT_EQ(once.find_first_of("\n\x1b\x7f"s), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace backgauge
