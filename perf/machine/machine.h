// SPDX-License-Identifier: Apache-2.0
// The machine and the build that a timing belongs to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "properties/device/facts.h"

namespace backgauge {

// What NVIDIA's driver says in its folder of /proc; both are "" without one. Nothing is loaded or started for it.
struct GpusOfHost {
  std::string models;  // "NVIDIA H100 80GB HBM3, NVIDIA H100 80GB HBM3"
  std::string driver;  // "580.95.05"
};
GpusOfHost gpus_of_host(const std::filesystem::path& folder = "/proc/driver/nvidia");

struct Machine {
  std::string cpu_model, isa, governor;  // isa: the best of this CPU for float; governor: may be "unknown"
  std::string kernel, libc;              // the release of the operating system; "glibc 2.36", or ""
  GpusOfHost gpus{};                     // whether or not a run uses them
  // The sizes of the first CPU's data or unified caches; 0: not present, or unknown.
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  int cores = 1;              // online
  bool matrix_units = false;  // matrix units for half or bfloat16
  bool half_units = false;    // vector units that multiply in half

  // Of a run that times something in its memory.
  std::optional<device::Facts> device{};

  // 16 hexadecimal digits, equal for machines whose times may be compared: a hash of CPU model, ISA, caches and cores,
  // and of the name, the multiprocessors and the highest clocks of the device.
  std::string id() const;
};
Machine this_machine();

// The size of the first CPU's data or unified cache at a level, 1 to 3; 0 if there is none. folder: of sysfs. Where
// that is not mounted, as in some containers, the C library is asked; 0 if it does not know either.
std::int64_t cache_bytes(int level, const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

struct Build {
  std::string version, commit, compiler, type;
  bool optimized = false;
  std::string sanitizers;  // their names, or ""
};
Build this_build();

// Why times of this build are meaningless, or "".
std::string unfit_for_timing(const Build& build);

}  // namespace backgauge
