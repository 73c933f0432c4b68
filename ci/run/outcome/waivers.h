// SPDX-License-Identifier: Apache-2.0
// Failures that are known and accepted until a date: the file of --waivers. properties/README.md describes it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "properties/judge/record/record.h"

namespace backgauge::cli {

// What must be the same as in the record of a failure; "" matches all. Each may hold the wildcards of fnmatch(3).
struct WaiverPattern {
  std::string cases;           // a case line, with or without its chk; the id of a check
  std::string kind;            // "block_lstm_grad_v2 x_grad value": FailureKind::text
  std::string implementation;  // its own name
};

struct Waiver {
  WaiverPattern pattern;
  Waived shown;
  std::string where;  // file:line
  bool expired = false;
  std::size_t records = 0;  // that it was applied to, or would have been if it had not expired
};

class Waivers {
 public:
  // `file`: "" for none. `today`: 2027-03-31; a waiver holds up to and including its day. Throws CommandError(kUsage)
  // for a file that cannot be read, an unknown key, a missing one, or an invalid date.
  Waivers(const std::string& file, const std::string& today);

  // Marks the record of a failure with the first waiver that covers it, and removes any other mark. What the harness or
  // the machine did wrong, and what is MISTRUSTED, is never waived.
  void apply(Record& record);
  void apply(std::vector<Record>& records);

  // A line for each waiver that has expired, and, after a complete run, for each that covered nothing.
  std::vector<std::string> remarks(bool complete) const;

 private:
  std::vector<Waiver> waivers_;
};

// In UTC: 2027-03-31.
std::string today();

}  // namespace backgauge::cli
