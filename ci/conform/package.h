// SPDX-License-Identifier: Apache-2.0
// The folder of `backgauge conform`: everything that a claim of conformance rests on, with the checksum of every file
// in SHA256SUMS, which `sha256sum -c` reads too. README.md lists the files.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ci/conform/conformance.h"
#include "ci/run/implementation/terms.h"
#include "ci/run/outcome/waivers.h"

namespace backgauge::cli {

using PackageFiles = std::map<std::string, std::string>;  // contents by path below the folder

// What a package is made from.
struct PackageParts {
  nlohmann::ordered_json description;  // implementation, environment; conformance.json without what is below
  Terms terms;                         // of the implementation
  std::string mustpass;                // version
  std::vector<MustpassList> lists;     // that were judged
  std::vector<Record> records;
  std::string waivers;  // text of the file, or ""
};
PackageFiles package_of(const PackageParts& parts);

// Throws CommandError(kUsage) if there is such a folder and it is not empty.
void require_new_folder(const std::filesystem::path& folder);

// Throws CommandError(kSelfCheck) if a file cannot be written.
void write_package(const std::filesystem::path& folder, const PackageFiles& files);

// Throws CommandError(kUsage) if the folder is not a package.
PackageFiles read_package(const std::filesystem::path& folder);

// What contradicts the checksums, or its own contents: empty for a package as it was written.
struct PackageCheck {
  std::vector<std::string> faults;   // it was edited, or does not hold together
  std::vector<std::string> remarks;  // what could not be compared
  nlohmann::ordered_json description;
  Terms terms;
  std::vector<MustpassList> lists;
  std::vector<Record> records;
  Conformance conformance;  // computed again from the records
};
// `today`: a waiver of the certificate that has expired by then is a fault.
PackageCheck check_package(const PackageFiles& files, const std::string& today);

}  // namespace backgauge::cli
