// SPDX-License-Identifier: Apache-2.0
// A text file of cases, one line each.
//   # a comment: a whole line, or what follows a case
//   @other.txt     the cases of another file, its path relative to this one
// The purpose of a case is given by its own comment, or else by the comment lines directly above it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

struct ListedCase {
  Case c;
  std::string note;   // its comment without '#', lines joined by a blank; may be ""
  std::string where;  // file:line
};

// The cases in their order. On failure none, and in `error` file:line and what is wrong there: an invalid case, a file
// that cannot be read, or a file that includes itself.
std::vector<ListedCase> read_case_list(const std::filesystem::path& path, std::string& error);

}  // namespace backgauge
