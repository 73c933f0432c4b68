// SPDX-License-Identifier: Apache-2.0
// Measures the available memory. It is checked before large allocations, since Linux grants memory that it does not
// have and kills a process later.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge {

// Bytes of memory of the machine, or the limit of the container (the cgroup of this process, version 1 or 2, or one
// above it) if that is less.
std::uint64_t machine_memory();

// Bytes of it that are available without swapping; at most the remaining address space of this process (ulimit -v).
std::uint64_t available_memory();

// "64 bytes", "1.5 GiB", "2^63 bytes".
std::string bytes_text(std::uint64_t bytes);

}  // namespace backgauge
