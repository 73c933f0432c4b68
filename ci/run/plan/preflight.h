// SPDX-License-Identifier: Apache-2.0
// Checks before a run, so that it does not fail at its end. All throw CommandError(kUsage).
#pragma once

#include <filesystem>
#include <string>

#include "properties/case/line/case.h"

namespace backgauge::cli {

// Checks that a file can be written at the end. The file is neither changed nor created.
void require_writable(const std::string& option, const std::filesystem::path& file);

// Checks that a case given by the user can be made: it exists, its checksum is right, and it fits into memory.
void require_makeable(const Case& c);

// "" or why a case does not fit: "needs at least 1.2 GiB of memory, 900 MiB are available".
std::string lack_of_memory(const Case& c);

}  // namespace backgauge::cli
