// SPDX-License-Identifier: Apache-2.0
// How much memory there is: asked before something large is allocated, since Linux gives what it does not have and ends
// a process later.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge {

// In bytes. Of the machine, or what its container (a cgroup of version 1 or 2, this process's or one above it) may
// have.
std::uint64_t machine_memory();

// What of it can still be had without swapping, and at most what this process may have addresses for (ulimit -v).
std::uint64_t available_memory();

// "64 bytes", "1.5 GiB", "2^63 bytes".
std::string bytes_text(std::uint64_t bytes);

}  // namespace backgauge
