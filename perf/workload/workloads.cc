// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/workloads.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "properties/case/files/data_files.h"
#include "properties/case/line/case_list.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kShapesPrefix = "shapes_", kShapesSuffix = ".txt";

void replace(std::string& text, char from, char to) { std::ranges::replace(text, from, to); }

fs::path suite_file(const fs::path& folder, std::string name) {
  replace(name, '-', '_');
  return folder / (std::string(kShapesPrefix) + name + std::string(kShapesSuffix));
}

bool has(const std::vector<Workload>& workloads, const Case& c) {
  return std::ranges::find(workloads, c, &Workload::c) != workloads.end();
}

}  // namespace

std::string Workload::name() const {
  Case without_checksum = c;
  without_checksum.checksum.reset();
  std::string line = to_string(without_checksum);
  replace(line, ' ', ',');
  return suite + "/" + line;
}

fs::path shapes_folder(std::string& error) {
  if (const char* chosen = std::getenv("BACKGAUGE_SHAPES"); chosen != nullptr && *chosen != '\0') {
    if (fs::is_directory(chosen)) return chosen;
    error = std::string("BACKGAUGE_SHAPES=") + chosen + ": no such folder";
    return {};
  }
  const std::vector<fs::path> places = data_places("shapes", "properties/cases");
  for (const fs::path& place : places) {
    if (fs::is_directory(place)) return place;
  }
  error = "shapes: no " + places_text(places) + "; set BACKGAUGE_SHAPES to the folder";
  return {};
}

std::vector<std::string> suite_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kShapesPrefix) || !name.ends_with(kShapesSuffix)) continue;
    name = name.substr(kShapesPrefix.size(), name.size() - kShapesPrefix.size() - kShapesSuffix.size());
    replace(name, '_', '-');
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

std::string suite_note(const fs::path& folder, const std::string& name) {
  std::ifstream file(suite_file(folder, name));
  std::string note;
  for (std::string line; std::getline(file, line) && line.starts_with("# ") && !line.starts_with("# Work: ");) {
    note += (note.empty() ? "" : " ") + line.substr(2);
  }
  return note;
}

std::vector<Workload> suite(const fs::path& folder, const std::string& name, std::string& error) {
  error.clear();
  const std::vector<std::string> known = suite_names(folder);
  std::vector<std::string> wanted = {name};
  if (name == kAllSuites) {
    wanted = known;
  } else if (std::ranges::find(known, name) == known.end()) {
    error = "expected one of";
    for (const std::string& one : known) error += " " + one;
    error += std::string(" ") + kAllSuites;
    return {};
  }
  std::vector<Workload> out;
  for (const std::string& one : wanted) {
    const std::vector<ListedCase> listed = read_case_list(suite_file(folder, one), error);
    if (!error.empty()) return {};
    for (const ListedCase& entry : listed) {
      if (!has(out, entry.c)) out.push_back({one, entry.c});
    }
  }
  return out;
}

}  // namespace backgauge
