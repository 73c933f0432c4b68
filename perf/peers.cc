// SPDX-License-Identifier: Apache-2.0
#include "perf/peers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "properties/case/data_files.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPeerPrefix = "peer_", kPeerSuffix = ".py";

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path folder() {
  if (const std::string chosen = setting("BACKGAUGE_PEERS"); !chosen.empty()) return chosen;
  for (const fs::path& place : data_places("peers", "perf/peers")) {
    if (fs::is_directory(place)) return place;
  }
  return {};
}

std::string interpreter_of(const std::string& name) {
  for (const fs::path& home :
       {fs::path(setting("BACKGAUGE_PEERS_HOME")), fs::path(setting("HOME")) / ".cache/backgauge-peers",
        fs::path("/opt/backgauge-peers")}) {
    const fs::path python = home / name / "bin/python";
    if (home.is_absolute() && fs::exists(python)) return python;
  }
  return "python3";
}

}  // namespace

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder(), none)) {
    const std::string file = entry.path().filename();
    if (!file.starts_with(kPeerPrefix) || !file.ends_with(kPeerSuffix)) continue;
    names.push_back(file.substr(kPeerPrefix.size(), file.size() - kPeerPrefix.size() - kPeerSuffix.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::vector<std::string>> peer_command(const std::string& name) {
  const std::vector<std::string> names = peer_names();
  if (std::ranges::find(names, name) == names.end()) return std::nullopt;
  const fs::path script = folder() / (std::string(kPeerPrefix) + name + std::string(kPeerSuffix));
  return std::vector<std::string>{interpreter_of(name), script.string()};
}

}  // namespace backgauge
