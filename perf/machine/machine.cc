// SPDX-License-Identifier: Apache-2.0
#include "perf/machine/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "perf/machine/generated/commit.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Words of the first CPU's line of features: "flags", or "Features" elsewhere.
bool has_feature(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) {
      return (line + " ").find(" " + feature + " ") != std::string::npos;
    }
  }
  return false;
}

std::string isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "unknown";
#endif
}

// "512K", "32768K", "32M"
std::int64_t cache_size(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return 0;
  return number << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

std::string kernel() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : "";
}

std::string libc() {
  char text[64] = "";
#ifdef _CS_GNU_LIBC_VERSION
  if (confstr(_CS_GNU_LIBC_VERSION, text, sizeof text) == 0) return "";
#endif
  return text;
}

int online_cores() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

std::int64_t cache_bytes(int level, const fs::path& folder) {
  for (int index = 0;; ++index) {
    const fs::path cache = folder / fmt::format("index{}", index);
    if (!fs::exists(cache)) break;
    if (first_line(cache / "level") != std::to_string(level) || first_line(cache / "type") == "Instruction") continue;
    return cache_size(first_line(cache / "size"));
  }
  constexpr int kNames[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  return fs::exists(folder) ? 0 : std::max(sysconf(kNames[level - 1]), 0L);
}

GpusOfHost gpus_of_host(const fs::path& folder) {
  std::vector<std::string> models;
  std::error_code none;
  for (const fs::directory_entry& gpu : fs::directory_iterator(folder / "gpus", none)) {
    std::ifstream file(gpu.path() / "information");
    for (std::string line; std::getline(file, line);) {
      const std::size_t begin = line.find_first_not_of(" \t", std::string("Model:").size());
      if (line.starts_with("Model:") && begin != line.npos) models.push_back(line.substr(begin));
    }
  }
  std::ranges::sort(models);
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025"
  std::istringstream words(first_line(folder / "version"));
  std::string driver;
  for (std::string word; driver.empty() && words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == word.npos && word.find('.') != word.npos;
    if (is_version) driver = word;
  }
  return {fmt::format("{}", fmt::join(models, ", ")), driver};
}

std::string Machine::id() const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  std::string text = fmt::format("{}|{}|{}|{}|{}|{}", cpu_model, isa, l1_bytes, l2_bytes, l3_bytes, cores);
  if (device) {
    text +=
        fmt::format("|{}|{}|{}|{}", device->name, device->multiprocessors, device->clock_mhz, device->memory_clock_mhz);
  }
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return fmt::format("{:016x}", hash);
}

Machine this_machine() {
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return {.cpu_model = cpu_model(),
          .isa = isa(),
          .governor = governor.empty() ? "unknown" : governor,
          .kernel = kernel(),
          .libc = libc(),
          .gpus = gpus_of_host(),
          .l1_bytes = cache_bytes(1),
          .l2_bytes = cache_bytes(2),
          .l3_bytes = cache_bytes(3),
          .cores = online_cores(),
          .matrix_units = has_feature("amx_tile") || has_feature("sme"),
          .half_units = has_feature("avx512_fp16") || has_feature("asimdhp")};
}

Build this_build() {
  Build build {
    .version = BACKGAUGE_VERSION, .commit = kCommit,
#if defined(__clang__)
    .compiler = "clang " __clang_version__,
#else
    .compiler = "gcc " __VERSION__,
#endif
    .type = BACKGAUGE_BUILD_TYPE, .optimized = false, .sanitizers = BACKGAUGE_SANITIZERS
  };
#ifdef __OPTIMIZE__
  build.optimized = true;
#endif
  return build;
}

std::string unfit_for_timing(const Build& build) {
  if (!build.sanitizers.empty()) return fmt::format("this build has sanitizers ({})", build.sanitizers);
  if (!build.optimized || build.type == "Debug") {
    return fmt::format("this is a {} build", build.type.empty() ? "not optimized" : build.type);
  }
  return "";
}

}  // namespace backgauge
