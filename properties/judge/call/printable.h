// SPDX-License-Identifier: Apache-2.0
// Turns untrusted bytes (names, messages, output of a plug-in, arguments of a command line) into text that is safe on a
// terminal and in JSON and XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backgauge {

enum class Newlines { kEscaped, kKept };

// The most bytes shown of a name or a version, of a message (the size of backgauge_message), and of a reason, which may
// quote several of them.
constexpr std::size_t kShownOfName = 80, kShownOfMessage = 512, kShownOfReason = 4096;

// On output UTF-8 of at most `most` bytes (`most` is at least 3), ending with "..." if something was cut off.
// Characters that are invisible, move the cursor or change the writing direction are escaped: \n, \t, \x1b for control
// characters and bytes that are not UTF-8, \u202e for invisible characters and those that XML forbids. Applying it to
// its own output changes nothing.
std::string printable(std::string_view bytes, std::size_t most = kShownOfReason,
                      Newlines newlines = Newlines::kEscaped);

}  // namespace backgauge
