// SPDX-License-Identifier: Apache-2.0
// Checks before a run, so that it does not fail at its end. All throw CommandError(kUsage).
#pragma once

#include <filesystem>
#include <string>

#include "properties/case/case.h"

namespace backgauge::cli {

// That a file can be written at the end. It is left as it is, and not made if it is not there.
void require_writable(const std::string& option, const std::filesystem::path& file);

// That a case that was given by hand can be made: it exists, its checksum is right, and it fits into memory.
void require_makeable(const Case& c);

// "" or why a case does not fit: "needs at least 1.2 GiB of memory, 900 MiB are available".
std::string lack_of_memory(const Case& c);

}  // namespace backgauge::cli
