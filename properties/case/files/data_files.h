// SPDX-License-Identifier: Apache-2.0
// Finds the files that the command brings along: golden vectors, workloads, regressions, adapters.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace backgauge {

// Where a file or folder may be, in the order in which to look. installed: below share/backgauge of the installation
// that the program belongs to, wherever that was moved. source: below the sources; no place in a portable build.
std::vector<std::filesystem::path> data_places(std::string_view installed, std::string_view source);

// "PLACE, PLACE", for messages.
std::string places_text(const std::vector<std::filesystem::path>& places);

}  // namespace backgauge
