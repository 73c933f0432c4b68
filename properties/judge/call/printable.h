// SPDX-License-Identifier: Apache-2.0
// Bytes of strangers (names, messages, what a plug-in prints, what a command line holds) as text that may be shown on a
// terminal and stored in JSON and XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backgauge {

enum class Newlines { kEscaped, kKept };

// How many bytes are shown at most of a name or a version; of a message (what backgauge_message has room for); of a
// reason, which may quote several of them.
constexpr std::size_t kShownOfName = 80, kShownOfMessage = 512, kShownOfReason = 4096;

// On output UTF-8 of at most `most` bytes (at least 3), "..." at its end if something was cut off. What would not be
// seen, would move the cursor or would turn the writing direction is written as an escape: \n, \t, \x1b for control
// characters and for bytes that are no UTF-8, \u202e for invisible characters and those that XML cannot have. Text that
// went through once stays as it is.
std::string printable(std::string_view bytes, std::size_t most = kShownOfReason,
                      Newlines newlines = Newlines::kEscaped);

}  // namespace backgauge
