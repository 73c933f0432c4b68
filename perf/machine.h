// SPDX-License-Identifier: Apache-2.0
// What a time belongs to: the machine, and the build that was timed.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge {

struct Machine {
  std::string cpu_model, isa, governor;                   // isa: the best for float of this CPU; governor: or "unknown"
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // data or unified, of the first CPU; 0 where there is none
  int cores = 1;                                          // that are online
  bool matrix_units = false;                              // tiles of products of half or bfloat16
  bool half_units = false;                                // vectors that multiply half in half

  // 16 hexadecimal digits; the same for machines whose times may be compared: CPU model, ISA, caches, cores.
  std::string id() const;
};
Machine this_machine();

struct Build {
  std::string version, commit, compiler, type;
  bool optimized = false;
  std::string sanitizers;  // "" or which
};
Build this_build();

// Why times of such a build mean nothing, or "".
std::string unfit_for_timing(const Build& build);

}  // namespace backgauge
