// SPDX-License-Identifier: Apache-2.0
// Returns texts that a terminal would interpret, or that a report could not contain.
#include <cstdio>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

// Clears the screen and forges a line; then a C1 control character, a byte that is not UTF-8, and half a character.
constexpr const char kEvil[] = "\x1b[2J\rsummary: all passed\n<&\"']]>\xc2\x9b\xff\xe2\x82";

// One word, as a name must be.
constexpr const char kEvilName[] = "\x1b[2J<&\"']]>\xc2\x9b\xff\xe2\x82";

backgauge_status refuses_with_escapes(Call, Message message) {
  std::memcpy(message->text, kEvil, sizeof kEvil);
  return BACKGAUGE_UNSUPPORTED;
}

backgauge_status refuses_without_an_end(Call, Message message) {
  std::memset(message->text, 0xe2, sizeof message->text);
  return BACKGAUGE_UNSUPPORTED;
}

backgauge_status prints_escapes(Call call, Message message) {
  const backgauge_status status = right(call, message);
  std::fwrite(kEvil, 1, sizeof kEvil - 1, stderr);
  return status;
}

backgauge_status wrong(Call call, Message message) {
  return after_right(call, message, [=] { spoil(*call); });
}

}  // namespace

std::vector<Misbehaviour> text_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"refuses_with_escapes", "refuses with escape sequences in the message", kCases, kFailed,
       "\\x1b[2J\\x0dsummary: all passed\\n<&\"']]>\\x9b\\xff\\xe2\\x82", refuses_with_escapes},
      {"refuses_without_an_end", "refuses with a message of 512 bytes, not UTF-8 and without a NUL", kCases, kFailed,
       "\\xe2\\xe2", refuses_without_an_end},
      {"prints_escapes", "prints escape sequences", kWorker, kBroken, "\\x1b[2J\\x0dsummary", prints_escapes},
      {.id = "calls_itself_escapes",
       .what = "has escape sequences in its name and version",
       .trial = kCases,
       .verdict = kFailed,
       .reason = "elements wrong",
       .run = wrong,
       .name = kEvilName,
       .version = kEvil},
  };
}

}  // namespace backgauge::saboteurs
