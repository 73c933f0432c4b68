// SPDX-License-Identifier: Apache-2.0
// What this machine's caches hold.
#pragma once

#include <cstdint>

namespace backgauge::cpu {

// Bytes of the second and the third level, as Linux tells them of the first CPU; 1 MiB and 32 MiB where it does not.
// sysconf is no source: it multiplied the 32 MiB of a virtual machine's Zen 3 by the eight that the host has.
std::int64_t second_level_cache();
std::int64_t last_level_cache();

}  // namespace backgauge::cpu
