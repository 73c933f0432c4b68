// SPDX-License-Identifier: Apache-2.0
// A text file of cases, one line each.
//   # a comment: a whole line, or what follows a case
//   @other.txt     the cases of another file, its path relative to this one
// What a case is there for is its own comment, or else the comment lines directly above it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/case.h"

namespace backgauge {

struct ListedCase {
  Case c;
  std::string note;   // its comment without '#', lines joined by a blank; may be ""
  std::string where;  // file:line
};

// On output the cases in their order; or none, and in `error` file:line and what is wrong there: no case, a file that
// cannot be read, or one that includes itself.
std::vector<ListedCase> read_case_list(const std::filesystem::path& path, std::string& error);

}  // namespace backgauge
