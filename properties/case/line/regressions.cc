// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/regressions.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "properties/case/files/data_files.h"
#include "properties/case/files/npy.h"
#include "properties/case/line/case_list.h"

namespace backgauge {
namespace {
namespace fs = std::filesystem;
}  // namespace

fs::path regressions_file(std::string& error) {
  if (const char* chosen = std::getenv("BACKGAUGE_REGRESSIONS"); chosen != nullptr && *chosen != '\0') {
    if (fs::exists(chosen)) return chosen;
    error = std::string("BACKGAUGE_REGRESSIONS=") + chosen + ": no such file";
    return {};
  }
  const std::vector<fs::path> places = data_places("regressions.txt", "properties/cases/regressions.txt");
  for (const fs::path& place : places) {
    if (fs::exists(place)) return place;
  }
  error = "regressions: no " + places_text(places) + "; set BACKGAUGE_REGRESSIONS to the file";
  return {};
}

std::vector<Case> read_regressions(const fs::path& file, std::string& error) {
  std::vector<Case> out;
  for (ListedCase& listed : read_case_list(file, error)) out.push_back(std::move(listed.c));
  return out;
}

bool add_regression(const fs::path& file, const std::string& line, std::string& error) {
  bool ends_whole = true;
  if (fs::exists(file)) {
    const std::vector<Case> known = read_regressions(file, error);
    if (!error.empty()) return false;
    if (std::ranges::find(known, line, [](const Case& c) { return to_string(c); }) != known.end()) return true;
    std::string text;
    if (!read_file(file, text, error)) return false;
    ends_whole = text.empty() || text.ends_with('\n');
  }
  std::ofstream stream(file, std::ios::app);
  stream << (ends_whole ? "" : "\n") << line << "\n";
  if (stream.flush()) return true;
  error = file.string() + ": cannot be written";
  return false;
}

}  // namespace backgauge
