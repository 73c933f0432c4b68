// SPDX-License-Identifier: Apache-2.0
// Workloads: named suites (the files properties/cases/shapes_<name>.txt) and single cases.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

struct Workload {
  std::string suite;  // its name, or "case"
  Case c;

  // "<suite>/<case line without chk, commas for blanks>"
  std::string name() const;
};

inline constexpr const char* kAllSuites = "all";

// The folder of the source tree, or of the installation, or BACKGAUGE_SHAPES. "" and `error` if none exists.
std::filesystem::path shapes_folder(std::string& error);

// "deepbench", "tf-grid", ...: every shapes_*.txt of the folder, in alphabetical order, '-' for '_'.
std::vector<std::string> suite_names(const std::filesystem::path& folder);

// What the comment at the top of a suite's file says it is, on one line; "" if there is none.
std::string suite_note(const std::filesystem::path& folder, const std::string& name);

// The cases of a suite, each once; of all suites for "all". None, and `error`, if the suite does not exist or its file
// has a line that is not a case.
std::vector<Workload> suite(const std::filesystem::path& folder, const std::string& name, std::string& error);

}  // namespace backgauge
