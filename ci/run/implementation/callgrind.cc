// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/callgrind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "ci/options/command_error.h"
#include "perf/meter/meter.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kValgrind = "valgrind";

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

Callgrind::Callgrind() {
  const std::string none = fmt::format("nothing counts instructions here: {}", no_hardware_counter());
  if (!asks_callgrind())
    throw CommandError{kNotLoaded, none + "; and this program was built without valgrind's headers"};
  if (!on_path(kValgrind)) throw CommandError{kNotLoaded, none + "; and valgrind is not installed"};
  std::string pattern = (fs::temp_directory_path() / "backgauge-counts-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw CommandError{kUsage, pattern + ": cannot be created"};
  folder_ = pattern;
}

Callgrind::~Callgrind() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

WorkerProgram Callgrind::around(WorkerProgram worker) const {
  // Under Valgrind /proc/self/exe is Valgrind.
  const std::string program =
      worker.program == WorkerProgram().program ? fs::read_symlink(worker.program).string() : worker.program;
  const std::string out = (folder_ / "callgrind").string();
  std::vector<std::string> words = {
      kValgrind, "--tool=callgrind", "--instr-atstart=no", "--quiet", fmt::format("--callgrind-out-file={}.%p", out),
      program};
  words.insert(words.end(), worker.words.begin() + 1, worker.words.end());
  worker.program = kValgrind;
  worker.words = std::move(words);
  worker.variables[kCallgrindOut] = out;
  return worker;
}

}  // namespace backgauge::cli
