// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/adapters.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "properties/case/files/data_files.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "adapter_", kSuffix = ".py";

fs::path setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path folder() {
  if (const fs::path chosen = setting("BACKGAUGE_ADAPTERS"); !chosen.empty()) return chosen;
  std::error_code none;
  for (const fs::path& place : data_places("adapters", "impl")) {
    if (fs::is_directory(place, none)) return place;
  }
  return {};
}

std::string interpreter_of(const std::string& environment) {
  std::error_code none;
  for (const fs::path& home : {setting("BACKGAUGE_PEERS_HOME"), setting("HOME") / ".cache/backgauge-peers",
                               fs::path("/opt/backgauge-peers")}) {
    const fs::path python = home / environment / "bin/python";
    if (home.is_absolute() && fs::exists(python, none)) return python;
  }
  return "";
}

}  // namespace

std::vector<Adapter> adapters() {
  std::vector<Adapter> out;
  std::error_code none;
  for (const fs::directory_entry& framework : fs::directory_iterator(folder(), none)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(framework.path(), none)) {
      const std::string file = entry.path().filename();
      if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
      out.push_back({file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()), entry.path(),
                     interpreter_of(framework.path().filename())});
    }
  }
  std::ranges::sort(out, {}, &Adapter::name);
  return out;
}

std::optional<Adapter> find_adapter(const std::string& name) {
  for (Adapter& adapter : adapters()) {
    if (adapter.name == name) return std::move(adapter);
  }
  return std::nullopt;
}

}  // namespace backgauge::cli
