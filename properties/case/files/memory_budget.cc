// SPDX-License-Identifier: Apache-2.0
#include "properties/case/files/memory_budget.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

namespace backgauge {
namespace {

namespace fs = std::filesystem;

// The number in a file; `otherwise` if the file holds a word ("max") or does not exist.
std::uint64_t number_in(const fs::path& file, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : otherwise;
}

// The folders of the cgroups that limit this process, from its own upwards: in the unified hierarchy, and in the memory
// controller of version 1. In a container, its own may only be visible at the root.
std::vector<fs::path> memory_cgroups() {
  std::vector<fs::path> out;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    fs::path below = line.substr(second + 1);
    for (below = below.relative_path(); !below.empty(); below = below.parent_path()) out.push_back(root / below);
    out.push_back(root);
  }
  return out;
}

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(const fs::path& cgroup) {
  return std::min(number_in(cgroup / "memory.max", kNoLimit), number_in(cgroup / "memory.limit_in_bytes", kNoLimit));
}

// The memory that a cgroup uses, without file pages that it can release.
std::uint64_t used_by(const fs::path& cgroup) {
  const std::uint64_t used =
      std::max(number_in(cgroup / "memory.current", 0), number_in(cgroup / "memory.usage_in_bytes", 0));
  std::uint64_t files = 0;
  std::ifstream stat(cgroup / "memory.stat");
  for (std::string key, value; stat >> key >> value;) {
    if (key == "inactive_file" || key == "total_inactive_file")
      files = std::max<std::uint64_t>(files, std::stoull(value));
  }
  return used - std::min(used, files);
}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t machine_memory() {
  std::uint64_t bytes = physical_memory();
  for (const fs::path& cgroup : memory_cgroups()) bytes = std::min(bytes, limit_of(cgroup));
  return bytes;
}

std::uint64_t available_memory() {
  std::uint64_t bytes = physical_memory();
  std::ifstream file("/proc/meminfo");
  for (std::string key, line; file >> key && std::getline(file, line);) {
    if (key == "MemAvailable:") bytes = 1024 * std::strtoull(line.c_str(), nullptr, 10);
  }
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0) bytes = std::min<std::uint64_t>(bytes, addresses.rlim_cur);
  for (const fs::path& cgroup : memory_cgroups()) {
    const std::uint64_t limit = limit_of(cgroup);
    if (limit >= physical_memory()) continue;
    const std::uint64_t used = used_by(cgroup);
    bytes = std::min(bytes, limit - std::min(limit, used));
  }
  return bytes;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kMiB = std::uint64_t{1} << 20;
  if (bytes >= 1024 * kGiB && std::has_single_bit(bytes)) return fmt::format("2^{} bytes", std::countr_zero(bytes));
  if (bytes >= 1024 * kGiB) return fmt::format("{} bytes", bytes);
  if (bytes >= kGiB) return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
  if (bytes >= kMiB) return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
  return fmt::format("{} bytes", bytes);
}

}  // namespace backgauge
