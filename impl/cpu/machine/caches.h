// SPDX-License-Identifier: Apache-2.0
// The cache sizes of this machine.
#pragma once

#include <cstdint>

namespace backgauge::cpu {

// Bytes of the second and the third level, as Linux reports them for the first CPU; 1 MiB and 32 MiB if it does not.
// sysconf is unreliable: it multiplied the 32 MiB of a virtual machine's Zen 3 by the eight that the host has.
std::int64_t second_level_cache();
std::int64_t last_level_cache();

}  // namespace backgauge::cpu
