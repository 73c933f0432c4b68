// SPDX-License-Identifier: Apache-2.0
#include "properties/case/files/data_files.h"

#include <dlfcn.h>

namespace backgauge {

namespace fs = std::filesystem;

std::vector<fs::path> data_places(std::string_view installed, std::string_view source) {
  std::vector<fs::path> places;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) places.push_back(program.parent_path().parent_path() / BACKGAUGE_DATA_FOLDER / installed);
  // In the native module of the Python package the program is an interpreter. A wheel has the data in the package next
  // to the module, and an installation has them above the folder of the module.
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&data_places), &here) != 0 && here.dli_fname != nullptr) {
    const fs::path module = fs::weakly_canonical(here.dli_fname, none), folder = module.parent_path();
    if (module != program) {
      places.push_back(folder / "backgauge" / BACKGAUGE_DATA_FOLDER / installed);
      places.push_back(folder.parent_path() / installed);
    }
  }
  if (const fs::path sources = BACKGAUGE_SOURCES; !sources.empty()) places.push_back(sources / source);
  return places;
}

std::string places_text(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) text += (text.empty() ? "" : ", ") + place.string();
  return text;
}

}  // namespace backgauge
