// SPDX-License-Identifier: Apache-2.0
// How many threads a process has; 0 where the system does not say. One that has been joined may be counted for a moment
// longer.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace backgauge {

std::size_t live_threads();  // of this one
std::size_t live_threads(pid_t process);

}  // namespace backgauge
