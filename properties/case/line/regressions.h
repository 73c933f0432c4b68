// SPDX-License-Identifier: Apache-2.0
// Case lines on which an implementation once failed, in the format of case_list.h. Every
// run judges them before all others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

// BACKGAUGE_REGRESSIONS, or the file of the source tree, or that of the installation. "" and `error` if none exists.
std::filesystem::path regressions_file(std::string& error);

// The cases of the file, or none, with the line and what is wrong with it in `error`.
std::vector<Case> read_regressions(const std::filesystem::path& file, std::string& error);

// Adds a line unless the file has it; the file may not exist yet. Returns false, and sets `error`, if it cannot write.
bool add_regression(const std::filesystem::path& file, const std::string& line, std::string& error);

}  // namespace backgauge
