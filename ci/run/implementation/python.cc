// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "ci/options/command_error.h"
#include "properties/judge/worker/child_process.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPackageFile[] = "__init__.py";

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

fs::path prefix() { return this_program().parent_path().parent_path(); }

// Whether pip has installed this program: the prefix is the package itself.
bool in_package() {
  std::error_code unreadable;
  return fs::exists(prefix() / kPackageFile, unreadable);
}

fs::path package_source() { return fs::path(BACKGAUGE_SOURCES) / "reports"; }

// The folder that holds the package; none if it is the interpreter's.
fs::path package_root() {
  if (in_package()) return {};
  const fs::path installed = prefix() / BACKGAUGE_PYTHON_FOLDER;
  for (const fs::path& root : {installed, package_source()}) {
    std::error_code unreadable;
    if (fs::exists(root / "backgauge" / kPackageFile, unreadable)) return root;
  }
  if (fs::path(BACKGAUGE_SOURCES).empty()) {
    throw CommandError{
        kNotLoaded,
        fmt::format("this needs the Python package, which did not come with this program ({} does not exist): "
                    "pip install 'backgauge[reports]' brings both",
                    installed.string())};
  }
  throw CommandError{kNotLoaded, fmt::format("the Python package of reports/ is neither in {} nor in {}",
                                             installed.string(), package_source().string())};
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

using Variables = std::map<std::string, std::string>;

bool succeeds(const std::vector<std::string>& words, const Variables& variables) try {
  ChildProcess process({.program = words.at(0), .arguments = words, .variables = variables, .ends_with_thread = true});
  const auto& ending = process.ending_by(std::chrono::steady_clock::time_point::max());
  return ending && !ending->by_signal && ending->number == 0;
} catch (const std::system_error&) {
  return false;
}

// Searches for the libraries without importing them, which would take seconds.
bool has_libraries(const std::string& python, const std::vector<std::string>& libraries, const Variables& variables) {
  const std::string program = fmt::format(
      "import importlib.util, sys; sys.exit(sys.version_info < (3, 11) or any(importlib.util.find_spec(name) is None "
      "for name in '{}'.split()))",
      fmt::join(libraries, " "));
  return succeeds({python, "-c", program}, variables);
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A folder `numpy` or `backgauge` in the current folder must not be imported instead of the library.
Variables safe_path() { return {{"PYTHONSAFEPATH", "1"}}; }

// How to get libraries.
std::string advice(const std::vector<std::string>& libraries) {
  if (in_package()) return "pip install 'backgauge[reports]'";
  return fmt::format("Debian: apt install python3-{}; or ci/install-deps --reports", fmt::join(libraries, " python3-"));
}

void set_environment(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

}  // namespace

std::string find_python(std::vector<std::string> libraries) {
  const Variables variables = safe_path();
  if (in_package()) libraries.emplace_back("backgauge");
  if (const std::string chosen = setting("BACKGAUGE_PYTHON"); !chosen.empty()) {
    if (has_libraries(chosen, libraries, variables)) return chosen;
    throw CommandError{kNotLoaded, fmt::format("BACKGAUGE_PYTHON={}: no Python 3.11 or later with {} ({})", chosen,
                                               fmt::join(libraries, ", "), advice(libraries))};
  }
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    if (has_libraries(python, libraries, variables)) return python;
  }
  throw CommandError{
      kNotLoaded,
      fmt::format("no python3 (3.11 or later) with {}: install them ({}), or name an interpreter that has them "
                  "in BACKGAUGE_PYTHON",
                  fmt::join(libraries, ", "), advice(libraries))};
}

void become_python(const std::string& module, const std::vector<std::string>& libraries,
                   const std::vector<std::string>& arguments) {
  for (const auto& [name, value] : safe_path()) set_environment(name.c_str(), value);
  const std::string python = find_python(libraries);
  if (const fs::path root = package_root(); !root.empty()) set_environment("PYTHONPATH", root.string());
  set_environment("BACKGAUGE_COMMAND", this_program().string());
  std::vector<std::string> words{python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  execvp(python.c_str(), pointers_to(words).data());
  throw CommandError{kNotLoaded, fmt::format("{} cannot be started: {}", python, std::strerror(errno))};
}

bool is_python_file(const std::string& name) { return name.ends_with(".py"); }

WorkerProgram python_worker(const std::string& chosen, int threads) {
  WorkerProgram worker{.words = {"python", "-m", "backgauge.worker"}, .variables = safe_path()};
  if (const fs::path package = package_root(); !package.empty()) {
    std::string path = package.string();
    // Next to the installed package, but not to its sources.
    if (package == package_source()) path += ":" BACKGAUGE_PYTHON_MODULE_FOLDER;
    if (const std::string others = setting("PYTHONPATH"); !others.empty()) path += ":" + others;
    worker.variables["PYTHONPATH"] = path;
  }
  worker.variables["PYTHONDONTWRITEBYTECODE"] = "1";
  worker.variables["PYTHONUNBUFFERED"] = "1";  // what a call prints is seen when it returns
  for (const char* pool : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    worker.variables[pool] = std::to_string(threads);
  }

  const std::string named = chosen.empty() ? setting("BACKGAUGE_PYTHON") : chosen;
  const std::vector<std::string> pythons =
      named.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector<std::string>{named};
  for (const std::string& python : pythons) {
    if (!has_libraries(python, {"numpy", "_backgauge"}, worker.variables)) continue;
    worker.program = worker.words.front() = python;  // a virtual environment is recognized by the name
    return worker;
  }
  throw CommandError{
      kNotLoaded,
      fmt::format("{}: no Python 3.11 or later with NumPy and the module _backgauge, which is built for one "
                  "version of Python ({}; or --python=PATH)",
                  fmt::join(pythons, ", "),
                  in_package() ? "pip install backgauge there" : "ci/install-deps --python, then build again")};
}

}  // namespace backgauge::cli
