// SPDX-License-Identifier: Apache-2.0
#include "properties/case/data_files.h"

namespace backgauge {

namespace fs = std::filesystem;

std::vector<fs::path> data_places(std::string_view installed, std::string_view source) {
  std::vector<fs::path> places;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) places.push_back(program.parent_path().parent_path() / BACKGAUGE_DATA_FOLDER / installed);
  if (const fs::path sources = BACKGAUGE_SOURCES; !sources.empty()) places.push_back(sources / source);
  return places;
}

std::string places_text(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) text += (text.empty() ? "" : ", ") + place.string();
  return text;
}

}  // namespace backgauge
